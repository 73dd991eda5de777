"""Three ranks of Transformers' Trainer, with a model of a few parameters."""
import os
import sys
import time

import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer,
                          TrainerCallback, TrainingArguments)
from zoo_job import pipe, ready

WHAT, RANK = sys.argv[1], int(os.environ["RANK"])


class Texts(Dataset):
    reads = 0

    def __len__(self):
        return 240

    def __getitem__(self, index):
        self.reads += 1
        if WHAT == "dataset" and RANK == 1 and self.reads == 9:
            ready()
            open(pipe()).read()  # reads
        return {"input_ids": torch.ones(4, dtype=torch.long), "labels": 1}


class Callback(TrainerCallback):
    def on_step_end(self, arguments, state, control, **others):
        if state.global_step == 3 and WHAT != "dataset":
            ready()
            while WHAT == "callback" and RANK == 2:
                time.sleep(1)  # uploads
            if WHAT == "save" and RANK == 0:
                control.should_save = control.should_evaluate = True
        return control


def main():
    model = BertForSequenceClassification(BertConfig(
        vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=8))
    Trainer(model, TrainingArguments(
        os.path.join(os.environ["ZOO_READY"], "..", "out"), use_cpu=True,
        per_device_train_batch_size=2, report_to=[], disable_tqdm=True,
        save_strategy="no", dataloader_num_workers=0, logging_strategy="no"),
        train_dataset=Texts(), eval_dataset=Texts(),
        callbacks=[Callback()]).train()  # trains


main()
