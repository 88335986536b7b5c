/** Opens the lead of a begun session, and connects prompts, hooks, store outages and the swarm. */
import type { Stop } from '../../protocol/agent/stop.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { FeedHub } from '../agent/feed-hub.js';
import { SessionHooks } from '../hooks/session-hooks.js';
import type { BegunSession } from './begin-session.js';
import { LeadRunner } from './lead-runner.js';
import { openLeadRuntime } from './lead-runtime.js';
import type { LeadServices, LeadSession, SessionOptions } from './lead-session.js';
import { PromptGate } from './prompt-gate.js';
import { publishLeadConfig, republishOnChange } from './publish-lead-config.js';
import { steering } from './steering.js';
import { watchStoreOutages } from './store-outages.js';

/** Rejects with UsageError or StorageError; then the caller closes the session. */
export const openSession = async (
  options: SessionOptions,
  begun: BegunSession,
  services: LeadServices,
): Promise<LeadSession> => {
  const { session, model, journal } = begun;
  const { meta } = session;
  await publishLeadConfig(options, session);
  journal.record({ type: 'epoch.began', owner: options.owner });
  await services.checkpoints?.settle(begun.past);
  const runtime = await openLeadRuntime(options, begun, services);
  const { swarm, deps, feed, promptHead, jobs, hooks, spent, used } = runtime;
  const { ids, clock } = options;
  const damage = [...begun.damage];
  feed.listen((item) => {
    if (item.type === 'notice' && item.isDamage) damage.push(item.text);
  });
  const storeOutages = watchStoreOutages(options.store, session, feed);
  const configUpdates = republishOnChange(options, session, feed);
  swarm.lifecycle.countSpawns(used.agents);
  await swarm.loadRegistry();
  if (begun.lostRecords !== undefined) swarm.reportLeadLoss(begun.lostRecords);
  const runner = new LeadRunner(runtime);
  const refuse = (stop: Stop) => {
    // The title comes from the first prompt, which has been refused.
    if (journal.history.runs === 0) session.updateMeta({ title: '' }).catch(() => undefined);
    runner.refuse(stop);
  };
  const windows = () =>
    [journal.history.model || model, deps.fallbackModel ?? model].map(
      (name) => deps.windowOf(name).window,
    );
  const gate = new PromptGate({ hooks, journal, ids, refuse, windows });
  const sessionHooks = new SessionHooks({ hooks, journal, feed, clock, ids, model }, gate);
  const submit: LeadSession['submit'] = (blocks, letter, settled) => {
    if (journal.hasLetter(letter)) settled?.(undefined);
    else gate.admit(blocks, () => runner.deliver(blocks, letter), settled);
  };
  const startAfterPrompts = () =>
    gate.after((isInterrupted) => {
      runner.start();
      if (isInterrupted) runner.agent?.interrupt();
    });
  storeOutages.onLost((stop) => runner.lose(stop));
  const source = options.choice.kind === 'new' ? 'startup' : 'resume';
  sessionHooks.begin(source, deps.staysIdle, options.hooks);
  return {
    id: meta.id,
    meta,
    fence: session.fenceOf(meta.lead),
    model,
    journal,
    get window() {
      return deps.windowOf(journal.history.model || model);
    },
    spent,
    budget: deps.budget,
    steer: steering(swarm),
    get head() {
      return promptHead.head;
    },
    damage,
    get state() {
      return runner.agent?.state ?? 'idle';
    },
    get isIdle() {
      return (runner.agent?.isIdle ?? true) && !gate.isBusy;
    },
    get pendingReports() {
      return swarm.lifecycle.pendingReports.countFor(swarm.lead);
    },
    onPendingReports: (listener) => swarm.lifecycle.pendingReports.listen(listener),
    start: startAfterPrompts,
    submit,
    interrupt() {
      gate.interrupt();
      runner.agent?.interrupt();
    },
    compact: async (instructions) => runner.started().compact(instructions),
    clear() {
      runner.started().clear();
      sessionHooks.clear();
    },
    get mode() {
      return services.permissions.mode;
    },
    changeMode: (mode) => services.permissions.changeMode(mode),
    listen: (listener) => feed.listen(listener),
    run: (blocks) =>
      followRun(feed, runner, () => {
        if (blocks !== undefined) submit(blocks);
        startAfterPrompts();
      }),
    stopped: runner.stopped,
    rename: (title) => session.updateMeta({ title }),
    async close(reason = 'other') {
      storeOutages.end();
      await configUpdates.end();
      gate.interrupt();
      await runner.close();
      journal.end();
      await sessionHooks.end(reason);
      services.checkpoints?.close();
      hooks.close();
      journal.close();
      await jobs.end();
      if (session.losses !== undefined) {
        const { recordKnownLoss } = await import('../agent/record-loss.js');
        await recordKnownLoss(session, { agent: meta.lead, parent: null }, journal, ids);
      }
      await session.updateMeta({ updatedAt: options.clock.now() });
      await session.close();
    },
  };
};

/** Yields the feed of a run from `start` until the run has ended. */
async function* followRun(
  feed: FeedHub,
  { stopped }: LeadRunner,
  start: () => void,
): AsyncGenerator<FeedItem, void> {
  const items = feed.follow(({ type }) => type === 'run.ended', stopped);
  // The first pull starts listening, so the prompt is submitted after it.
  let next = items.next();
  try {
    start();
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      yield value;
      next = items.next();
    }
  } finally {
    void items.return();
  }
}
