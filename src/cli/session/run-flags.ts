/** Run flags: their types, names and help texts. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PERMISSION_MODES } from '../../protocol/permission/permission-mode.js';
import type { RunOptions } from '../../sdk/assembly/options/run-options.js';
import { VERSION } from '../../sdk/assembly/version.js';

export interface RunFlags extends RunOptions {
  readonly print?: boolean;
  readonly plain?: boolean;
  readonly screenReader?: boolean;
  readonly outputFormat: 'text' | 'json' | 'stream-json';
  readonly inputFormat: 'text' | 'stream-json';
  readonly includePartialMessages?: boolean;
  readonly simulate?: string | true;
  readonly verbose?: boolean;
}

export const addRunFlags = (command: Command): Command =>
  command
    .optionsGroup('A run:')
    .option('-p, --print', 'print mode: one run, then exit')
    .option('--plain', 'an interactive session in lines, for any terminal or pipe')
    .option('--screen-reader', 'lines instead of screens, without animation')
    .option('--cwd <dir>', 'working directory')
    .option('--add-dir <dirs...>', 'more directories that tools may work in')
    .option('--max-turns <n>', 'model turns before the run stops', wholeNumber)
    .option('--max-budget-usd <amount>', 'dollars before the run stops', amount)
    .optionsGroup('Input and output:')
    .addOption(
      new Option('--output-format <format>', 'format of stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .addOption(
      new Option('--input-format <format>', 'format of stdin')
        .choices(['text', 'stream-json'])
        .default('text'),
    )
    .option('--include-partial-messages', 'stream-json: also the events of unfinished messages')
    .option('--json-schema <schema>', 'ask the model for JSON of this schema')
    .optionsGroup('The model:')
    .option('--model <model>', 'a model id, or opus, sonnet, haiku, fable')
    .option('--fallback-model <model>', 'takes over when the model stays overloaded')
    .addOption(
      new Option('--effort <level>', 'effort of the model').choices([
        'low',
        'medium',
        'high',
        'xhigh',
        'max',
      ]),
    )
    .option('--system-prompt <text>', 'replaces the built-in rules')
    .option('--append-system-prompt <text>', 'comes after the system prompt')
    .option(
      '--agent <agent>',
      'work as this agent: its prompt, tools, model, mode, turns and hooks',
    )
    .option('--agents <json>', 'more agents: {"name": {"description": …, "prompt": …}}')
    .option('--bare', 'no memory files except those of --add-dir')
    .option('--simulate [script]', 'use the built-in simulator instead of a model')
    .optionsGroup('Permissions:')
    .addOption(
      new Option('--permission-mode <mode>', 'calls that run without asking').choices(
        PERMISSION_MODES,
      ),
    )
    .option('--allowed-tools <rules...>', 'calls that need no approval: "Bash(npm test:*)" Edit')
    .option('--disallowed-tools <rules...>', 'calls that never run')
    .option('--ask', 'questions wait for skein approve in another terminal')
    .option('--settings <file-or-json>', 'more settings, which override the files')
    .option('--trust', 'trust this workspace for this run')
    .optionsGroup('Sessions:')
    .option('-r, --resume <session>', 'resume a session')
    .option('-c, --continue', 'resume the newest session of this directory')
    .option('--fork-session', 'with --resume or --continue: resume a copy with a new id')
    .option('--session-id <id>', 'the id of the new session')
    .option('--store <store>', 'where sessions are: embedded, or a Redis such as redis://host:6379')
    .option('--no-session-persistence', 'do not save the session')
    .optionsGroup('Help:')
    .option('--verbose', 'show stacks and details of errors')
    .option('--debug', 'write a debug log, a JSON object per line, in the state directory')
    .option('--debug-file <path>', 'write the debug log to this file')
    .version(VERSION, '-v, --version', 'the version')
    .helpOption('-h, --help', 'this text');

/** Throws InvalidArgumentError unless the text is a whole number of at most nine digits. */
export const wholeNumber = (text: string): number => {
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
