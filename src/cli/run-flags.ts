/** The flags of a run, as the command line gives them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RunOptions } from '../sdk/run-options.js';

export interface RunFlags extends RunOptions {
  readonly print?: boolean;
  readonly outputFormat: 'text' | 'json' | 'stream-json';
  readonly inputFormat: 'text' | 'stream-json';
  readonly includePartialMessages?: boolean;
  readonly simulate?: string | true;
  readonly verbose?: boolean;
}

export const addRunFlags = (command: Command): Command =>
  command
    .option('-p, --print', 'print mode: one run, then exit')
    .addOption(
      new Option('--output-format <format>', 'what goes to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .addOption(
      new Option('--input-format <format>', 'what comes from stdin')
        .choices(['text', 'stream-json'])
        .default('text'),
    )
    .option('--include-partial-messages', 'stream-json: also the events of unfinished messages')
    .option('--model <model>', 'a model id, or opus, sonnet, haiku, fable')
    .option('--fallback-model <model>', 'takes over when the model stays overloaded')
    .addOption(
      new Option('--effort <level>', 'how hard the model tries').choices([
        'low',
        'medium',
        'high',
        'xhigh',
        'max',
      ]),
    )
    .option('--max-turns <n>', 'model turns before the run stops', wholeNumber)
    .option('--max-budget-usd <amount>', 'dollars before the run stops', amount)
    .option('--permission-mode <mode>', 'default, acceptEdits, plan, dontAsk or bypassPermissions')
    .option('--allowed-tools <rules...>', 'calls that need no question: "Bash(npm test:*)" Edit')
    .option('--disallowed-tools <rules...>', 'calls that are never run')
    .option('--system-prompt <text>', 'replaces the built-in rules')
    .option('--append-system-prompt <text>', 'comes after the system prompt')
    .option('--settings <file-or-json>', 'more settings, stronger than the files')
    .option('--add-dir <dirs...>', 'more directories that tools may work in')
    .option('--cwd <dir>', 'work there instead of here')
    .option('-r, --resume <session>', 'go on with a session')
    .option('-c, --continue', 'go on with the newest session of this directory')
    .option('--fork-session', 'with --resume or --continue: as a copy, under a new id')
    .option('--session-id <id>', 'the id of the new session')
    .option('--json-schema <schema>', 'ask the model for JSON of this schema')
    .option('--no-session-persistence', 'keep nothing on disk')
    .option('--simulate [script]', 'use the built-in simulator instead of a model')
    .option('--trust', 'trust this workspace for this run')
    .option('--verbose', 'show stacks and details of errors');

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number of 0 or more.');
  return Number(text);
};

const amount = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('Give an amount in dollars of 0 or more.');
  }
  return value;
};
