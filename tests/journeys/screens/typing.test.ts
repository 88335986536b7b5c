/** The interactive session with --plain on a real terminal. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, type Rules, resultsIn, type Scene, setScene } from '../../fakes/skein-process.js';
import { openScreen, type ScreenOptions } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

/** Streams for longer than a test waits. */
const ENDLESS = { text: 'word '.repeat(2_000), chunkBytes: 5, chunkDelayMs: 40 };

/** A model that echoes, runs `touch made` for a prompt with "make", and streams without end for "endless". */
const RULES: Rules = [
  { match: { lastUser: 'endless' }, reply: ENDLESS },
  { match: { lastUser: 'make', toolResult: 'denied' }, reply: 'Then not.' },
  { match: { lastUser: 'make' }, reply: calls('Bash', { command: 'touch made' }) },
  { match: { toolResult: 'denied' }, reply: 'Then not.' },
  { match: { toolResult: '/./' }, reply: 'It is done.' },
  { reply: 'You said {{lastUser}}!' },
];

interface SessionOptions extends ScreenOptions {
  readonly args?: readonly string[];
}

const openSession = async ({ args = [], ...options }: SessionOptions = {}, rules = RULES) => {
  const scene = await setScene(rules);
  return { scene, screen: openScreen(scene, ['--plain', ...args], options) };
};

const READY = /^>$/m;
const QUESTION = /Allow it\? .*: *$/;
const hasMade = ({ workspace }: Scene) => existsSync(join(workspace, 'made'));

needs.describe('tmux')('a plain session on a terminal', () => {
  test('prints its session and folder, answers, and prints how to resume', async () => {
    const { scene, screen } = await openSession();
    const header = await screen.shows(READY);
    expect(header).toMatch(/session s_\w+\nModel \S+, permission mode default, working in \//);
    screen.say('hello');
    await screen.shows(/> hello\n\nYou said hello!\n\n>$/);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
    expect(screen.text()).toMatch(
      /Session (s_\w+), cost \$\d\.\d{4}\. Resume with: skein --resume \1/,
    );
    expect(scene.bodies()).toHaveLength(1);
  });

  test('prints no text of the model between a question and its answer', async () => {
    const { scene, screen } = await openSession({}, [
      { match: { toolResult: '/./' }, reply: 'It is done.' },
      {
        reply: {
          blocks: [
            { type: 'tool_use', name: 'Bash', input: { command: 'touch made' } },
            { type: 'text', text: `${'\n'.repeat(60)}The lead asks to use Bash.\n  command: ls` },
          ],
          chunkBytes: 40,
          chunkDelayMs: 5,
        },
      },
    ]);
    await screen.shows(READY);
    screen.say('go');
    await screen.shows(QUESTION);
    const types = async () => (await scene.journal()).map(({ type }) => type);
    await expect.poll(types).toContain('assistant.received');
    expect(screen.text()).toMatch(
      /asks to use Bash\.\n {2}\| command: touch made\n {2}risk: .*\n {2}reason: .*\n(?: {2}.*\n)+Allow it\?.*$/,
    );
    screen.say('o');
    await screen.shows(/command: ls[\s\S]*It is done\.\n\n>$/);
    expect(hasMade(scene)).toBe(true);
  });

  test('escapes control characters in an answer', async () => {
    const scene = await setScene([{ reply: 'a\u001b[2J\u001b[1;1Hb' }]);
    const screen = openScreen(scene, ['-p', 'go']);
    await screen.shows('a^[[2J^[[1;1Hb');
  });

  test('starts with the prompt from the command line', async () => {
    const { screen } = await openSession({ args: ['hello there'] });
    await screen.shows(/> hello there\n\nYou said hello there!\n\n>$/);
  });

  test('streams the answer and stops on Esc', async () => {
    const { screen } = await openSession();
    await screen.shows(READY);
    screen.say('endless');
    await screen.shows(/word word word/);
    screen.press('Escape');
    await screen.shows(/\(Interrupting…\)\n\(Interrupted\..*\)\n\n>$/);
    screen.say('go on');
    await screen.shows('You said go on!');
  });

  test('interrupts on Ctrl-C and exits after two more', async () => {
    const { screen } = await openSession();
    await screen.shows(READY);
    screen.say('endless');
    await screen.shows(/word word/);
    screen.press('C-c');
    await screen.shows(/\(Interrupted\..*\)\n\n>$/);
    screen.press('C-c');
    await screen.shows(/\(Press Ctrl-C again to quit\.\)\n+>$/);
    screen.press('C-c');
    expect(await screen.ended()).toBe(0);
  });

  test('sends a prompt that is typed during a run with the next step', async () => {
    const slow = { ...calls('Bash', { command: 'sleep 1' }), text: 'Wait.' };
    const rules: Rules = [
      { match: { lastUser: 'and this' }, reply: 'Both.' },
      { match: { lastUser: 'first' }, reply: slow },
      { reply: 'Only one.' },
    ];
    const { screen } = await openSession(
      { args: ['--permission-mode', 'bypassPermissions'] },
      rules,
    );
    await screen.shows(READY);
    screen.say('first');
    await screen.shows('Bash sleep 1');
    screen.say('and this');
    await screen.shows('> and this\n(Sent; the agent reads it with its next step.)');
    await screen.shows(/Both\.\n\n>$/);
  });

  test('recalls earlier prompts, including prompts of an earlier process, without secrets', async () => {
    const { scene, screen } = await openSession();
    await screen.shows(READY);
    screen.say('the first');
    await screen.shows(/You said the first!\n\n>$/);
    screen.say('token sk-ant-0123456789abcdef');
    await screen.shows(/You said token sk-ant-0123456789abcdef!\n\n>$/);
    screen.press('C-d');
    await screen.ended();
    const file = join(scene.skeinHome, 'history');
    expect(readFileSync(file, 'utf8')).toBe('"the first"\n"token sk-ant-[redacted]"\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const again = openScreen(scene, ['--plain']);
    await again.shows(READY);
    again.press('Up');
    again.press('Up');
    await again.shows(/^> the first$/m);
    again.press('C-e');
    again.type(' again');
    again.press('Enter');
    await again.shows(/You said the first again!\n\n>$/);
    again.press('C-r');
    again.type('ken');
    await again.shows('search "ken": token sk-ant-[redacted]');
    again.press('Escape');
    await again.shows(READY);
  });

  test('takes a paste of several lines as a single prompt', async () => {
    const { scene, screen } = await openSession();
    await screen.shows(READY);
    screen.paste('one\ntwo\nthree');
    await screen.shows(/> one\n {2}two\n {2}three$/);
    expect(scene.bodies()).toHaveLength(0);
    screen.press('Enter');
    await screen.shows(/You said one\ntwo\nthree!/);
    expect(scene.bodies()).toHaveLength(1);
  });

  test('takes a huge paste and shows its end', async () => {
    const { scene, screen } = await openSession();
    await screen.shows(READY);
    screen.paste(`${'a line of this paste\n'.repeat(5_000)}the end`);
    await screen.shows(/the end$/);
    screen.press('Enter');
    await screen.shows(/\(4989 more lines\)/);
    await screen.shows(/the end!\n\n>$/);
    expect(scene.bodies()[0]?.messages[0].content.at(-1).text).toHaveLength(105_007);
  });

  test('prints help, and lists the commands after an unknown command', async () => {
    const { screen } = await openSession();
    await screen.shows(READY);
    screen.say('/help');
    await screen.shows(/\/compact \[what to keep\] +summarise/);
    screen.say('/nothing');
    await screen.shows(/There is no \/nothing\. Commands: \/help/);
    screen.say('//etc/hosts is what?');
    await screen.shows(/You said \/etc\/hosts is what\?!\n\n>$/);
    screen.say('/quit');
    expect(await screen.ended()).toBe(0);
  });

  test('starts a new conversation on /clear', async () => {
    const { scene, screen } = await openSession();
    await screen.shows(READY);
    screen.say('remember this');
    await screen.shows(/You said remember this!\n\n>$/);
    screen.say('/clear');
    await screen.shows('(The conversation is cleared.)');
    screen.say('what was it');
    await screen.shows('You said what was it!');
    expect(JSON.stringify(scene.bodies().at(-1))).not.toContain('remember this');
  });

  test('changes the permission mode on /mode, even before the first prompt', async () => {
    const refused = { match: { toolResult: 'allows none' }, reply: 'Then not.' };
    const { scene, screen } = await openSession({}, [refused, ...RULES]);
    await screen.shows(READY);
    screen.say('/mode');
    await screen.shows(/The permission mode is default\.\)\n\n>$/);
    screen.say('/mode nothing');
    await screen.shows(/There is no mode "nothing"\. Use one of default, acceptEdits, plan/);
    screen.say('/mode plan');
    await screen.shows(/The permission mode is plan\.\)\n\n>$/);
    screen.say('make it');
    await screen.shows(/denied Bash touch made: .*plan mode allows none[\s\S]*Then not\.\n\n>$/);
    screen.say('/mode bypassPermissions');
    await screen.shows(/The permission mode is bypassPermissions\.\)\n\n>$/);
    screen.say('make it again');
    await screen.shows(/It is done\.\n\n>$/);
    expect(hasMade(scene)).toBe(true);
    const bodies = scene.bodies().map((body) => JSON.stringify(body.messages));
    expect(bodies[0]).toContain('Permission mode: plan.');
    expect(bodies.at(-1)).toContain('Permission mode: bypassPermissions.');
  });

  test('shows a plan as a question, and runs it only after approval', async () => {
    const rules: Rules = [
      {
        match: { toolResult: 'agrees with the plan' },
        reply: calls('Bash', { command: 'touch made' }),
      },
      { match: { toolResult: '/./' }, reply: 'It is done.' },
      { reply: calls('ExitPlanMode', { plan: '# The plan\n\n1. Make it.' }) },
    ];
    const { scene, screen } = await openSession({ args: ['--permission-mode', 'plan'] }, rules);
    await screen.shows(READY);
    screen.say('make it');
    await screen.shows(
      /The lead asks to use ExitPlanMode[\s\S]*# The plan[\s\S]*1\. Make it\.[\s\S]*Allow it\? .*: *$/,
    );
    expect(hasMade(scene)).toBe(false);
    screen.say('o');
    await screen.shows(/asks to use Bash[\s\S]*Allow it\? .*: *$/);
    screen.say('o');
    await screen.shows(/It is done\.\n\n>$/);
    expect(hasMade(scene)).toBe(true);
  });

  test('resumes an earlier session on /resume', async () => {
    const { scene, screen } = await openSession();
    const { result } = await scene.run(['-p', 'the old one', '--output-format', 'json']);
    await screen.shows(READY);
    screen.say('/resume');
    await screen.shows(/1\. just now +the old one +s_\w+\nWhich session\?.*:$/);
    screen.say('7');
    await screen.shows('There is no number 7; the list has 1 to 1.');
    screen.say('/resume 1');
    await screen.shows(/The last exchange:\n\n> the old one\n\nYou said the old one!\n\n>$/);
    expect(screen.text()).toContain(`session ${result.session_id}`);
    screen.say('more');
    await screen.shows('You said more!');
    expect(scene.bodies().at(-1)?.messages).toHaveLength(3);
  });
});

needs.describe('tmux')('a permission question on a terminal', () => {
  const ask = async (options?: SessionOptions) => {
    const { scene, screen } = await openSession(options);
    await screen.shows(READY);
    screen.say('make it');
    await screen.shows(/The lead asks to use Bash\.\n {2}\| command: touch made\n/);
    await screen.shows(QUESTION);
    return { scene, screen };
  };

  test('is repeated until the answer is valid, and `once` allows a single call', async () => {
    const { scene, screen } = await ask();
    screen.say('maybe');
    await screen.shows(/Please answer o, s, p or d\.\n.*: *$/);
    expect(hasMade(scene)).toBe(false);
    screen.say('o');
    await screen.shows(/Bash touch made\n {4}ok\n {6}\(no output\)\n\nIt is done\.\n\n>$/);
    expect(hasMade(scene)).toBe(true);
    screen.say('make it again');
    await screen.shows(QUESTION);
  });

  test('can be answered for the session', async () => {
    const { screen } = await ask();
    screen.say('s');
    await screen.shows(/It is done\.\n\n>$/);
    screen.say('make it again');
    await screen.shows(/It is done\.[\s\S]*It is done\.\n\n>$/);
    expect(screen.text().match(/asks to use/g)).toHaveLength(1);
  });

  test('can be answered for the project', async () => {
    const { scene, screen } = await ask();
    screen.say('p');
    await screen.shows(/It is done\.\n\n>$/);
    const saved = readFileSync(join(scene.workspace, '.skein/settings.local.json'), 'utf8');
    expect(JSON.parse(saved)).toEqual({ permissions: { allow: ['Bash(touch made)'] } });
  });

  test('can be denied with a reason that the model reads', async () => {
    const { scene, screen } = await ask();
    screen.say('d');
    await screen.shows(/Why not\?.*: *$/);
    screen.say('wrong name');
    await screen.shows(/denied Bash touch made: .*wrong name\n\nThen not\.\n\n>$/);
    expect(hasMade(scene)).toBe(false);
    expect(resultsIn(scene.bodies().at(-1))[0]?.content).toContain('Reason: wrong name');
  });

  test('is denied by Esc, which also interrupts the run', async () => {
    const { scene, screen } = await ask();
    screen.press('Escape');
    await screen.shows(/\(Denied, and the run is interrupted\.\)[\s\S]*\(Stopped.*\)\n\n>$/);
    expect(hasMade(scene)).toBe(false);
    expect(scene.bodies()).toHaveLength(1);
  });

  test('is not answered by keys that were typed before', async () => {
    const rules: Rules = [
      { match: { toolResult: '/./' }, reply: 'It is done.' },
      { reply: { ...calls('Bash', { command: 'touch made' }), delayMs: 1_000 } },
    ];
    const { scene, screen } = await openSession({}, rules);
    await screen.shows(READY);
    screen.say('make it');
    await screen.shows('> make it');
    screen.type('o');
    await screen.shows(QUESTION);
    expect(hasMade(scene)).toBe(false);
    screen.say('');
    await screen.shows('Please answer o, s, p or d.');
    screen.say('d no');
    // The earlier typed letter is still in the prompt.
    await screen.shows(/It is done\.\n\n> o$/);
  });
});

needs.describe('tmux')('a terminal', () => {
  test('with TERM=dumb gets plain lines only', async () => {
    const { screen } = await openSession({ env: { TERM: 'dumb' } });
    await screen.shows(READY);
    screen.say('"""');
    screen.say('one');
    screen.say('two');
    screen.say('"""');
    await screen.shows(/You said one\ntwo!\n\n>$/);
    screen.say('make it');
    await screen.shows(/Allow it\?.*: *$/);
    await screen.shows(/asks to use Bash/);
    screen.say('later');
    await screen.shows(/Please answer o, s, p or d\.|typed before the question/);
    screen.press('C-c');
    await screen.shows(/\(Interrupted\..*\)\n\n>$/);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });

  test('is restored after exit', async () => {
    const { screen } = await openSession({ after: 'stty -a | grep -o "[-]*icanon\\|[-]*echo "' });
    await screen.shows(READY);
    screen.press('C-c');
    screen.press('C-c');
    await screen.shows(/it ended with 0\nicanon\necho/);
  });

  test('shows the trust question once for a workspace with allow rules', async () => {
    const scene = await setScene(RULES);
    await mkdir(join(scene.workspace, '.claude'));
    const settings = { permissions: { allow: ['Bash(touch made)'] } };
    writeFileSync(join(scene.workspace, '.claude/settings.json'), JSON.stringify(settings));
    const screen = openScreen(scene, ['--plain']);
    await screen.shows(/is not trusted yet\.[\s\S]*permissions\.allow in .*settings\.json/);
    await screen.shows(/Trust this workspace\?.*: *$/);
    screen.say('y');
    await screen.shows(READY);
    screen.say('make it');
    await screen.shows('It is done.');
    expect(screen.text()).not.toContain('asks to use');
    const again = openScreen(scene, ['--plain']);
    await again.shows(READY);
    expect(again.text()).not.toContain('trusted');
  });
});
