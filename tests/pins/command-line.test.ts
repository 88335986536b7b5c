import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/command-line.js';
import type { TerminalHost } from '../../src/terminal/terminal-host.js';

const program = buildProgram({} as TerminalHost, () => {});

const shapeOf = (command: Command): string[] => [
  ...command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  ),
  ...command.options.map(({ flags }) => flags),
];

test('the flags of a run do not change', () => {
  expect(shapeOf(program).sort()).toEqual([
    '--add-dir <dirs...>',
    '--agent <agent>',
    '--agents <json>',
    '--allowed-tools <rules...>',
    '--append-system-prompt <text>',
    '--ask',
    '--bare',
    '--cwd <dir>',
    '--debug',
    '--debug-file <path>',
    '--disallowed-tools <rules...>',
    '--effort <level>',
    '--fallback-model <model>',
    '--fork-session',
    '--include-partial-messages',
    '--input-format <format>',
    '--json-schema <schema>',
    '--max-budget-usd <amount>',
    '--max-turns <n>',
    '--model <model>',
    '--no-session-persistence',
    '--output-format <format>',
    '--permission-mode <mode>',
    '--plain',
    '--screen-reader',
    '--session-id <id>',
    '--settings <file-or-json>',
    '--simulate [script]',
    '--store <store>',
    '--system-prompt <text>',
    '--trust',
    '--verbose',
    '-c, --continue',
    '-p, --print',
    '-r, --resume <session>',
    '-v, --version',
    '[prompt]',
  ]);
});

test('the commands with their arguments and flags do not change', () => {
  const tree = (command: Command): readonly [string, string[]][] =>
    command.commands.flatMap((child) => {
      const path = `${command === program ? '' : `${command.name()} `}${child.name()}`;
      return [[path, shapeOf(child)] as [string, string[]], ...tree(child)];
    });
  expect(Object.fromEntries(tree(program))).toEqual({
    demo: ['--json'],
    doctor: ['--json', '--online'],
    ps: ['[session]', '--all', '--json'],
    top: ['[session]', '--json'],
    tasks: ['[session]', '--json'],
    worker: ['--concurrency <agents>', '--rate <agents>', '--json'],
    send: ['<agent>', '[text]', '--json'],
    stop: ['<agent>', '--json'],
    resume: ['<session-or-agent>', '[prompt]', '--json'],
    inbox: ['[session]', '--json'],
    approve: ['<question>', '--for <scope>', '--json'],
    deny: ['<question>', '--reason <text>', '--json'],
    sessions: ['--all', '--search <text>', '--limit <n>', '--json'],
    'sessions prune': ['--older-than <age>', '--dry-run', '--yes', '--json'],
    cost: ['[session]', '--json'],
    explain: ['[session]', '[call]', '--json'],
    report: ['[session]', '-o, --output <file>', '--force', '--json'],
    rewind: [
      '[session]',
      '--list',
      '--to <n>',
      '--files',
      '--conversation',
      '--both',
      '--undo',
      '--dry-run',
      '--force',
      '--yes',
      '--json',
    ],
    context: ['[session]', '--json'],
    logs: ['[session]', '-f, --follow', '--limit <n>', '--json'],
    replay: ['[session]', '--speed <n>', '--from <moment>', '--real-time', '--json'],
    config: ['--json'],
    prompt: ['--agent <agent>', '--json'],
    agents: ['--json'],
    trust: ['--revoke', '--includes', '--include <files...>', '--json'],
    completion: ['<shell>'],
    sim: ['--port <port>', '--script <file>'],
    version: [],
  });
});

test('the choices of the flags do not change', () => {
  const choices = program.options.flatMap(({ long, argChoices }) =>
    argChoices === undefined ? [] : [[long, argChoices] as const],
  );
  expect(Object.fromEntries(choices)).toEqual({
    '--output-format': ['text', 'json', 'stream-json'],
    '--input-format': ['text', 'stream-json'],
    '--effort': ['low', 'medium', 'high', 'xhigh', 'max'],
    '--permission-mode': ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'],
  });
});
