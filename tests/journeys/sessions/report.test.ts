/** The HTML report of a swarm, shown in a real browser. */
import { hash } from 'node:crypto';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  calls,
  type Line,
  type Reply,
  type Rules,
  STREAM,
  setScene,
} from '../../fakes/skein-process.js';
import { showPage } from '../../fakes/terminal/chromium-page.js';
import { needs } from '../../setup/needs.js';

const task = (name: string, description: string): Reply => ({
  tool_use: [
    { name: 'Task', input: { name, description, prompt: 'Work.', subagent_type: 'tester' } },
  ],
});

/** A lead and two testers. The second tester has a hostile description. */
const rulesOf = (hostile: string): Rules => [
  { match: { firstUser: 'begin', turn: 0 }, reply: task('ada', 'the walls') },
  { match: { firstUser: 'begin', turn: 1 }, reply: task('bob', hostile) },
  { match: { firstUser: 'begin' }, reply: 'All done.' },
  { match: { firstUser: 'Work', turn: 0 }, reply: calls('Bash', { command: 'touch it' }) },
  { match: { firstUser: 'Work' }, reply: 'Worked.' },
];

const setReportScene = async (rules?: Rules) => {
  const scene = await setScene(rules);
  const { result } = await scene.run(['-p', 'begin the work', ...STREAM]);
  const session = String(result.session_id);
  const file = join(scene.workspace, `skein-report-${session}.html`);
  return { ...scene, session, file };
};

/** Uses the page as a person does, and prints the results to the console. */
const USER_SCRIPT = `{
const point = (element) => {
  const { left, top, width } = element.getBoundingClientRect();
  const place = { bubbles: true, clientX: left + width / 2, clientY: top + 1 };
  element.dispatchEvent(new PointerEvent('pointermove', place));
  console.log(document.getElementById('tip').textContent.replaceAll('\\n', ' '));
};
point(document.querySelector('li.lane rect'));
point(document.querySelector('.frame'));
const find = document.getElementById('find');
find.value = 'BOB';
find.dispatchEvent(new Event('input'));
const left = document.querySelectorAll('li.lane:not([hidden]) .name');
console.log(document.getElementById('found').textContent + ': ' + left[0].textContent);
const cost = document.querySelectorAll('thead button')[6];
cost.click();
const [dearest] = document.querySelectorAll('tr[data-agent] .name');
console.log(dearest.textContent + ' is the dearest, ' + cost.parentNode.ariaSort);
}`;

needs.describe('chromium')('the report in Chromium', () => {
  test('shows every agent without console errors or network requests', async () => {
    const hostile = '</script><img src=x onerror=fetch(`/x`)>';
    const scene = await setReportScene(rulesOf(hostile));
    const { simulator, run, file, session, tmp, workspace } = scene;
    expect(await run(['report'])).toMatchObject({ code: 0, stdout: `${file}\n`, stderr: '' });
    const asked = simulator.requests.length;
    const text = await readFile(file, 'utf8');
    // The same page with foreign content, which the policy must block and report to the console,
    // and with an allowed script that uses the page.
    const other = join(workspace, 'other.html');
    const foreign = `<img src="${simulator.url}/spy"><script>fetch('${simulator.url}/spy')</script>`;
    const digest = hash('sha256', USER_SCRIPT, 'base64');
    const changed = text
      .replace('<main>', `<main>${foreign}`)
      .replace('script-src ', `script-src 'sha256-${digest}' `)
      .replace('</body>', `<script>${USER_SCRIPT}</script></body>`);
    await writeFile(other, changed);
    const [shown, used] = await Promise.all([showPage(file, tmp), showPage(other, tmp)]);

    const { agents } = JSON.parse((await run(['report', session, '--json'])).stdout) as Line;
    expect(agents.map(({ name, kind }: Line) => name ?? kind)).toEqual(['lead', 'ada', 'bob']);
    for (const { id, name, kind } of agents as Line[]) {
      const lane = new RegExp(`<li class="lane" data-agent="${id}">.*?</li>`, 's').exec(
        shown.dom,
      )?.[0];
      const row = new RegExp(`<tr data-agent="${id}">.*?</tr>`, 's').exec(shown.dom)?.[0];
      expect(lane).toContain(`<span class="name">${name ?? kind}</span>`);
      expect(lane).toContain('<rect class="s-streaming"');
      expect(row).toContain(`<span class="name">${name ?? kind}</span>`);
      expect(row).toContain('completed');
    }
    for (const title of ['Cost', 'Tokens', 'Cache reads and writes']) {
      expect(shown.dom).toContain(`role="img" aria-label="${title}: `);
    }
    expect(shown.dom).toContain('No rule and no mode allows Bash "touch it".');
    // The script of the page has run.
    expect(shown.dom).toContain('<button type="button">Turns</button>');
    expect(shown.dom).toContain('<p class="find">');
    expect(shown.dom).not.toContain('<img');
    expect(shown.dom).toContain('&lt;img src=x onerror=fetch(`/x`)&gt;');
    expect(shown.console).toEqual([]);
    const refused = used.console.filter((line) => line.includes('Content Security Policy'));
    expect(refused).toHaveLength(2);
    const printed = used.console.filter((line) => !refused.includes(line));
    expect(printed.map((line) => /"(.*)"/.exec(line)?.[1])).toEqual([
      expect.stringMatching(/^lead · \S+ \d/),
      expect.stringMatching(/^at .* paid: \$0\.\d+ without the cache: \$0\.\d+$/),
      '1 found: bob',
      'lead is the dearest, descending',
    ]);
    expect(simulator.requests.slice(asked)).toEqual([]);
  });
});

describe('skein report', () => {
  test('replaces an earlier report, and other files only with --force', async () => {
    const { run, file, session, workspace } = await setReportScene();
    expect(await run(['report', session.slice(0, 6)])).toMatchObject({
      code: 0,
      stdout: `${file}\n`,
    });
    expect(await run(['report', session])).toMatchObject({ code: 0, stderr: '' });
    const mine = join(workspace, 'thoughts.html');
    await writeFile(mine, '<!doctype html>\nmine');
    const { code, stdout, stderr } = await run(['report', '-o', 'thoughts.html']);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `skein: ${mine} exists and is not a report: name another file with --output, or replace it with --force.\n`,
    });
    expect(await readFile(mine, 'utf8')).toBe('<!doctype html>\nmine');
    expect((await run(['report', '-o', 'thoughts.html', '--force'])).code).toBe(0);
    expect(await readFile(mine, 'utf8')).toContain('begin the work');
    await symlink('elsewhere.html', join(workspace, 'link.html'));
    expect((await run(['report', '-o', 'link.html'])).stderr).toContain('exists and is not a file');
    expect(await readdir(workspace)).not.toContain('elsewhere.html');
    expect((await run(['report', '-o', '.'])).code).toBe(2);
  });

  test('creates no folders, and names a missing folder in its error', async () => {
    const { run, workspace } = await setReportScene();
    await writeFile(join(workspace, 'file'), '');
    for (const [output, folder] of [
      ['no/such/x.html', 'no/such'],
      ['file/x.html', 'file'],
    ] as const) {
      for (const force of [[], ['--force']]) {
        const { code, stdout, stderr } = await run(['report', '-o', output, ...force]);
        expect({ code, stdout, stderr }).toEqual({
          code: 2,
          stdout: '',
          stderr: `skein: There is no folder ${join(workspace, folder)}: create it, or name another file with --output.\n`,
        });
      }
    }
    expect(await readdir(workspace)).not.toContain('no');
  });

  test('prints the page or its data without secrets of the environment', async () => {
    const key = 'a-key-that-looks-like-nothing';
    const { run, workspace } = await setScene([{ reply: 'Done.' }]);
    await run(['-p', `remember ${key}`]);
    const env = { MY_API_KEY: key };
    const page = await run(['report', '--output', '-'], { env });
    expect(page).toMatchObject({ code: 0, stderr: '' });
    expect(page.stdout).toMatch(/^<!doctype html>\n[\s\S]*<\/html>\n$/);
    expect(page.stdout).toContain('remember [redacted]');
    const data = JSON.parse((await run(['report', '--json'], { env })).stdout) as Line;
    expect(data).toMatchObject({ title: 'remember [redacted]', turns: 1, isRunning: false });
    expect(await readdir(workspace)).toEqual([]);
  });

  test('marks a running session as still running', async () => {
    const { start, run } = await setScene([{ reply: { text: 'Well', stall: { afterEvents: 2 } } }]);
    const lead = start(['-p', 'begin', ...STREAM, '--include-partial-messages']);
    lead.endInput();
    await lead.line(({ type }) => type === 'stream_event');
    const { stdout } = await run(['report', '-o', '-']);
    expect(stdout).toContain('<strong>Still running.</strong>');
    expect(stdout).toContain('1 running');
  });

  test('fails for an unknown session', async () => {
    const { run } = await setScene();
    expect(await run(['report', 's_none'])).toMatchObject({ code: 2, stdout: '' });
  });
});
