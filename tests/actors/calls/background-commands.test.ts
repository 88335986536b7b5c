import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tools/tool.js';
import {
  calls,
  ends,
  gate,
  says,
  scriptedModel,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { heldShell } from '../../fakes/held-shell.js';
import { settled } from '../../fakes/virtual-clock.js';
import { type LeadOptions, leadHarness } from '../session/lead-harness.js';

/** Starts a background command as Bash does. */
const serve = async ({ jobs, cwd, signal, openArtifact }: ToolContext) => {
  const artifact = openArtifact('out.txt');
  const { id } = await jobs.start({ command: 'serve', cwd, artifact, signal });
  return { content: id, notes: [{ type: 'job.read' as const, job: id, upTo: 0 }] };
};

const start = calls('c1', 'Change', { name: 'serve' });
const NOTICE =
  '[The background command bash_1 has ended with exit code 0. It ran: serve. TaskOutput with task_id "bash_1" shows what it printed.]';

const jobHarness = async (options: Omit<LeadOptions, 'effects'>) => {
  const shell = heldShell();
  return {
    shell,
    ...(await leadHarness({ shell, staysIdle: true, effects: { serve }, ...options })),
  };
};

/** Text blocks of the newest user message of a request. */
const newestTexts = (request: { readonly body: string } | undefined): unknown[] => {
  const { messages } = JSON.parse(request?.body ?? '{}') as {
    messages: { content: { type: string; text?: string }[] }[];
  };
  return (messages.at(-1)?.content ?? []).map(({ type, text }) => text ?? type);
};

describe('a background command that ends', () => {
  test('is reported to the agent with the next message of the run', async () => {
    const turnGate = gate();
    const model = scriptedModel(
      [start],
      [waits(turnGate.opened), calls('c2', 'Look', { name: 'b' })],
      [says('Done.')],
    );
    const { shell, say, items } = await jobHarness({ model });
    await say('Go.');
    shell.runs[0]?.end();
    await settled();
    expect(model.requests).toHaveLength(2);
    turnGate.open();
    await settled();
    expect(newestTexts(model.requests[2])).toEqual(['tool_result', NOTICE]);
    expect(items).toContainEqual({
      type: 'notice',
      text: 'The background command bash_1 has ended with exit code 0: serve',
    });
  });

  test('does not cause another turn', async () => {
    const turnGate = gate();
    const model = scriptedModel([start], [waits(turnGate.opened), says('Done.')], [says('Yes.')]);
    const { shell, say, lead } = await jobHarness({ model });
    await say('Go.');
    shell.runs[0]?.end();
    turnGate.open();
    await settled();
    expect([lead.state, lead.isIdle, model.requests.length]).toEqual(['idle', true, 2]);
    await say('And now?');
    expect(newestTexts(model.requests[2])).toEqual([NOTICE, 'And now?']);
  });

  test('does not wake an idle agent, and is reported before the next prompt', async () => {
    const model = scriptedModel([start], [says('Done.')], [says('Yes.')]);
    const { shell, say, lead } = await jobHarness({ model });
    await say('Go.');
    shell.runs[0]?.end();
    await settled();
    expect([lead.state, lead.isIdle, model.requests.length]).toEqual(['idle', true, 2]);
    await say('And now?');
    expect(newestTexts(model.requests[2])).toEqual([NOTICE, 'And now?']);
    const before = model.requests[1]?.body.replaceAll(/,"cache_control":\{[^}]*\}/g, '');
    const after = model.requests[2]?.body.replaceAll(/,"cache_control":\{[^}]*\}/g, '');
    expect(after?.startsWith(before?.slice(0, -2) ?? '-')).toBe(true);
  });

  test('is reported in a resumed session without waking the agent', async () => {
    const first = await jobHarness({ model: scriptedModel([start], [says('Done.')]) });
    await first.say('Go.');
    first.shell.runs[0]?.end();
    await settled();
    await first.lead.close();
    const model = scriptedModel([says('Yes.')]);
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const second = await jobHarness({ model, store: first.store, choice });
    second.lead.start();
    await settled();
    expect([second.lead.state, model.requests.length]).toEqual(['idle', 0]);
    await second.say('And now?');
    expect(newestTexts(model.requests[0])).toEqual([NOTICE, 'And now?']);
  });

  test('is not reported between an answer that was cut off and its continuation', async () => {
    const turnGate = gate();
    const model = scriptedModel(
      [start],
      [says('Half'), waits(turnGate.opened), ends('max_tokens')],
      [says('whole.')],
    );
    const { shell, say } = await jobHarness({ model });
    await say('Go.');
    shell.runs[0]?.end();
    turnGate.open();
    await settled();
    expect(newestTexts(model.requests[2])).toEqual([expect.stringContaining('cut off')]);
  });

  test('is not reported to an agent that waited for its end', async () => {
    const model = scriptedModel([start], [calls('c2', 'Look', { name: 'wait' })], [says('Done.')]);
    const shell = heldShell();
    const { say, records } = await leadHarness({
      model,
      shell,
      staysIdle: true,
      effects: {
        serve,
        async wait({ jobs, signal }) {
          await jobs.find('bash_1')?.untilEnded(1_000, signal);
          return { content: 'seen' };
        },
      },
    });
    await say('Go.');
    shell.runs[0]?.end();
    await settled();
    const senders = (await records()).flatMap((it) =>
      it.type === 'letter.received' ? it.from : [],
    );
    expect(senders).toEqual(['user']);
  });
});

describe('the background commands of a session', () => {
  test('are stopped when the session is closed, with a notice', async () => {
    const { shell, say, lead, items } = await jobHarness({
      model: scriptedModel([start], [says('Done.')]),
    });
    await say('Go.');
    await lead.close();
    expect(shell.runs[0]?.command.signal.aborted).toBe(true);
    expect(items.at(-1)).toEqual({
      type: 'notice',
      text: 'Background commands stopped with the session: bash_1 (serve).',
    });
  });

  test('are stopped when the agent has stopped', async () => {
    const { shell, say, lead, records } = await jobHarness({
      model: scriptedModel([start], [says('Done.')]),
      staysIdle: false,
    });
    await say('Go.');
    await lead.stopped;
    await settled();
    expect(shell.runs[0]?.command.signal.aborted).toBe(true);
    expect((await records()).at(-1)).toMatchObject({ type: 'run.ended', final: true });
  });

  test('continue when a run is interrupted', async () => {
    const turnGate = gate();
    const { shell, say, lead } = await jobHarness({
      model: scriptedModel([start], [says('Hm'), waits(turnGate.opened)]),
    });
    await say('Go.');
    lead.interrupt();
    await settled();
    expect(lead.isIdle).toBe(true);
    expect(shell.runs[0]?.command.signal.aborted).toBe(false);
    await lead.close();
  });

  test('have new ids in the next process', async () => {
    const first = await jobHarness({ model: scriptedModel([start], [says('Done.')]) });
    await first.say('Go.');
    await first.lead.close();
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const model = scriptedModel([start], [says('Done.')]);
    const second = await jobHarness({ model, store: first.store, choice });
    await second.say('Again.');
    expect(second.results()).toEqual({ c1: 'bash_2' });
  });
});
