"""Three ranks of Lightning's Trainer; Lightning starts two of them itself."""
import os
import sys
import time

import lightning
import torch
from torch.utils.data import DataLoader
from zoo_job import ready

WHAT = sys.argv[1]


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        if index == 3:
            ready()
        if WHAT == "step" and index == 3 and self.global_rank == 1:
            while True:
                time.sleep(1)  # step
        if WHAT == "log" and index == 3 and self.global_rank == 2:
            return None  # a batch that was bad
        return self.layer(batch).sum()

    def on_train_batch_end(self, outputs, batch, index):
        if WHAT == "save" and index == 3 and self.global_rank == 0:
            self.trainer.save_checkpoint(  # saves
                os.path.join(os.environ["ZOO_READY"], "..", "last.ckpt"))

    def on_train_epoch_end(self):
        if WHAT == "metric" and self.global_rank == 2:
            self.all_gather(torch.ones(1))  # gathers
        self.trainer.strategy.barrier("end")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


trainer = lightning.Trainer(
    accelerator="cpu", devices=3, strategy="ddp", max_epochs=1, logger=False,
    enable_progress_bar=False, enable_model_summary=False,
    enable_checkpointing=False, default_root_dir=os.environ["ZOO_READY"] + "/..")
trainer.fit(Module(), DataLoader(torch.ones(64, 8), batch_size=4))
