import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EVENT_TYPES, type SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { PAGE_MARK, reportPage } from '../../../src/ui/report/report-page.js';
import { redactedReport } from '../../../src/views/report/redacted-report.js';
import { ReportFold } from '../../../src/views/report/swarm-report.js';
import { type Fact, factsOf, MODEL, reportOf, SESSION, swarmOf } from '../../views/swarm-facts.js';

const { begun, started, ended, asked, ruled, spawned, over } = factsOf();
const pageOf = (facts: readonly Fact[], options: Parameters<typeof reportOf>[1] = {}) =>
  reportPage(reportOf(facts, options));

/** Text of the page without markup. */
const textOf = (page: string) =>
  page
    .replaceAll(/<(style|script)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('the page of a report', () => {
  test('has a timeline row and a table row for every agent of a large swarm', () => {
    const page = pageOf(swarmOf(250, 40));
    const shown = [...page.matchAll(/<(li|tr)[^>]* data-agent="(\w+)"/g)];
    for (const element of ['li', 'tr']) {
      const ids = shown.flatMap(([, tag, id]) => (tag === element ? [id] : []));
      expect(new Set(ids).size).toBe(250);
    }
    expect(page.length).toBeLessThan(4_000_000);
    expect(page).toMatch(/[\d,]+ stays in a state of less than/);
    expect(page).toMatch(/[\d,]+ requests share a step of the curves/);
  });

  test('draws the number of working agents over time, and zero in a pause', () => {
    const day = 86_400_000;
    const work = (from: number, agent: string) => [
      started(from, agent),
      ended(from + 10_000, 'end_turn', agent),
    ];
    const page = pageOf([
      ...begun(0),
      ...work(0, 'a_1'),
      spawned(0, 'a_2'),
      ...work(5_000, 'a_2'),
      ...work(day, 'a_2'),
      over(day + 10_000),
    ]);
    expect(textOf(page)).toContain('at work at most 2');
    const path = /aria-label="Agents at work[^>]*><path class="s-streaming" d="([^"]+)"/.exec(
      page,
    )?.[1];
    const top = [...(path ?? '').matchAll(/V([\d.]+)H([\d.]+)/g)].map(([, y, x]) => `${y} ${x}`);
    const [there, back] = [top.slice(0, top.length / 2), top.slice(top.length / 2)];
    // The first agent, both agents, the second agent, none, and the second agent again.
    const steps = there.map((step) => step.split(' ')[0]).filter((y, at, all) => y !== all[at - 1]);
    expect(steps).toEqual(['50', '0', '50', '100', '50']);
    expect([there.at(-1), back.at(-1)]).toEqual(['50 1000', '100 0']);
  });

  test('shows the key figures', () => {
    const text = textOf(pageOf(swarmOf(3)));
    expect(text).toContain('Agents 3 3 completed');
    expect(text).toContain('Turns 15 15 requests');
    expect(text).toMatch(/Cost \$0\.0150 at list prices/);
    expect(text).toMatch(/Read from the cache 87\.9 % 12K of 13\.7K tokens sent/);
    expect(text).toMatch(/Saved by the cache \$0\.\d+ [\d.]+ % of \$0\.\d+/);
    expect(text).toContain('Questions 0 nothing denied');
  });

  test('lists questions and denied calls with their outcome, rule and waiting time', () => {
    const rule = { rule: 'Bash(rm *)', source: 'project', file: '/work/.skein/s.json', line: 7 };
    const answered: Fact = {
      type: 'permission.answered',
      ts: 4_000,
      call: 'c1',
      outcome: 'accepted',
      surface: 'inbox',
      detail: 'session',
    };
    const text = textOf(
      pageOf([
        ...begun(0),
        started(10),
        ended(100, 'tool_use'),
        asked(1_000, 'c1'),
        answered,
        ruled(4_500, 'c1', 'allow', { by: 'inbox', reason: 'Fine.', granted: 'Bash(rm)' }),
        ruled(5_000, 'c2', 'deny', { step: 'deny', reason: 'Forbidden.', ...rule }),
        asked(6_000, 'c3'),
        over(7_000),
      ]),
    );
    expect(text).toContain('2 questions asked and 1 call denied, of 2 rulings.');
    expect(text).toContain(
      '1 s lead Bash rm No rule allows it. allowed for the session: Bash(rm) inbox: Fine. 3.5 s',
    );
    expect(text).toContain(
      '5 s lead Bash denied step deny: Forbidden. rule Bash(rm *) of /work/.skein/s.json:7 not asked',
    );
    expect(text).toContain('withdrawn no answer 1 s');
    expect(text).toContain('Questions 2 4.5 s of waiting, 1 call denied');
  });

  test('shows that the session runs, and its open questions', () => {
    const facts = [...begun(0), started(10), ended(100, 'tool_use'), asked(1_000, 'c1')];
    const text = textOf(pageOf(facts, { isHeld: true, now: 60_000 }));
    expect(text).toContain('Still running.');
    expect(text).toContain('1 running');
    expect(text).toContain('open no answer yet 59 s so far');
    expect(text).toContain('Questions 1 59 s of waiting, nothing denied');
    expect(textOf(pageOf(facts))).not.toContain('Still running.');
  });

  test('marks the cost as incomplete if a price is unknown', () => {
    const text = textOf(pageOf([...begun(0), { ...ended(5, 'end_turn'), cost: null }, over(9)]));
    expect(text).toContain('Cost ≥ $0.0000 some prices are not known');
    expect(text).not.toContain('Saved by the cache');
  });

  test('can be built for a session without events', () => {
    expect(textOf(pageOf([]))).toContain('Agents 0');
  });

  test('loads no external resource and has a strict content security policy', () => {
    const page = pageOf(swarmOf(3));
    expect(page.startsWith(PAGE_MARK)).toBe(true);
    expect(page).not.toMatch(/\b(?:src|href|srcset|action|data|poster)=|@import|url\(|https?:/i);
    expect(page).not.toMatch(/\sstyle="|\son\w+="|javascript:/i);
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? '';
    for (const [, name, , text = ''] of page.matchAll(/<(style|script)(>)([\s\S]*?)<\/\1>/g)) {
      expect(policy).toContain(`${name}-src 'sha256-${hash('sha256', text, 'base64')}'`);
    }
    expect(policy).toMatch(/^default-src 'none'; /);
  });
});

const HOSTILE = `</script><img src=x onerror="alert(1)">\u202E\u0000\u001b[31m&lt;'\`\u{E0041}`;

describe('hostile text of an agent', () => {
  const facts = [
    ...begun(0),
    { ...spawned(1, 'a_2'), origin: { kind: 'sync', name: HOSTILE, description: HOSTILE } },
    { ...asked(2, 'c'), description: HOSTILE, tool: HOSTILE, reason: HOSTILE },
    ruled(3, 'c', 'deny', {
      by: HOSTILE,
      reason: HOSTILE,
      rule: HOSTILE,
      file: HOSTILE,
      step: HOSTILE,
    }),
    { ...over(4, 'a_2'), reason: HOSTILE, detail: HOSTILE },
  ] as const;

  test('is escaped on the page and loses its control characters', () => {
    const fold = new ReportFold({ ...SESSION, title: HOSTILE, cwd: HOSTILE, model: HOSTILE });
    for (const [at, fact] of facts.entries()) {
      fold.take({
        v: 1,
        seq: at + 1,
        swarm: 's',
        agent: 'a_1',
        parent: null,
        cites: { seq: 1 },
        ...fact,
      });
    }
    const page = reportPage(fold.report({ isHeld: false, jobs: [], now: 9 }));
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;');
    expect(page.match(/<\/script>/g)).toHaveLength(2);
    expect(page).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test('is redacted if an invisible character splits a secret', () => {
    const secret = 'sk-ant-\u200eapi03-abcdefgh12345678';
    const origin = { kind: 'sync', name: 'spy', description: `see ${secret}` };
    const page = pageOf([...begun(0), { ...spawned(1, 'a_2'), origin }]);
    expect(page).toContain('see sk-ant-[redacted]');
    expect(page).not.toContain('abcdefgh12345678');
  });
});

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }),
  fc.constantFrom(
    null,
    undefined,
    {},
    [],
    true,
    '__proto__',
    'constructor',
    '</script><img src=x>',
  ),
);

test('a report page has no foreign elements for any events of the index', () => {
  const event = fc
    .record({
      ts: fc.oneof(fc.integer({ min: 0, max: 1e6 }), fc.double({ noNaN: true })),
      agent: fc.constantFrom('a_1', 'a_2', '__proto__', '<b>'),
      type: fc.constantFrom(...EVENT_TYPES),
      parent: fc.constantFrom(null, 'a_1', 'a_2'),
      call: anything,
      tool: anything,
      description: anything,
      reason: anything,
      step: anything,
      behavior: fc.oneof(fc.constantFrom('allow', 'deny', 'ask'), anything),
      by: anything,
      rule: anything,
      file: anything,
      line: anything,
      child: anything,
      kind: anything,
      usage: fc.oneof(fc.record({ input: anything, output: anything }), anything),
      cost: anything,
      model: fc.oneof(fc.constant(MODEL), anything),
      epoch: anything,
      origin: fc.oneof(fc.record({ name: anything, type: anything, depth: anything }), anything),
    })
    .map((fields) => ({ v: 1, seq: 1, swarm: 's', cites: { seq: 1 }, ...fields }) as SwarmEvent);
  const base = { v: 1, seq: 1, swarm: 's', cites: { seq: 1 }, agent: 'a_1', parent: null };
  const begun = (ts: number) => ({ ...base, ts, type: 'agent.spawned' }) as unknown as SwarmEvent;
  const nearlyFree = {
    ...base,
    ts: 0,
    type: 'agent.spawned',
    model: 'claude-sonnet-4-5',
    usage: { input: 8.23444e-319, output: null },
    cost: -8.881784197001253e-19,
  };
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), fc.boolean(), (events, isHeld) => {
      const fold = new ReportFold(SESSION);
      for (const item of events) fold.take(item);
      const report = fold.report({ isHeld, jobs: [], now: 1e6 });
      const page = reportPage(redactedReport(report, (text) => text));
      expect(page.match(/<(?!!doctype|!--|\/)(\w+)/g)?.filter((tag) => !OWN_TAGS.has(tag))).toEqual(
        [],
      );
      expect(page.match(/<script/g)).toHaveLength(2);
      expect(/.{40}(NaN|Infinity|undefined)/.exec(page)).toBeNull();
    }),
    {
      numRuns: 60,
      examples: [
        [[begun(0), begun(Number.MIN_VALUE)], false],
        [[nearlyFree as unknown as SwarmEvent], false],
      ],
    },
  );
});

const OWN_TAGS = new Set(
  `html head meta title style body main header p h1 h2 h3 dl div dt dd section ul li svg rect path text span
   figure figcaption table caption thead tbody tr th td small code time footer script strong label input`
    .split(/\s+/)
    .map((name) => `<${name}`),
);
