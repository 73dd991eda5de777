/*
 * probetui-node: the program that probetui starts on each machine.
 */
#include "backends/program.h"

#include "banned.h"

int main(int count, char **words)
{
	return program_run(count, words);
}
