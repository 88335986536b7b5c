/** What `skein demo` came to: in figures, and in words for a person. */
import type { FeedItem } from '../protocol/feed.js';
import { costOf, uncachedCostOf } from '../protocol/prices.js';
import { addUsage, NO_USAGE } from '../protocol/usage.js';
import type { CostReport } from '../sdk/cost-ledger.js';
import { agentCostLines } from './agent-cost-text.js';
import type { ChartStyle } from './bar-chart.js';
import type { DemoRepository } from './demo-repository.js';
import { count, money, plural, wrapped } from './figures.js';

export interface DemoFigures {
  readonly testsPass: boolean;
  readonly stopReason: string;
  readonly turns: number;
  readonly calls: number;
  /** Those that worked for the lead. */
  readonly agents: readonly string[];
  /** Questions that somebody was asked. */
  readonly questions: number;
  /** What the agents found in the cache when they began, because others had sent it before. */
  readonly sharedTokens: number;
  readonly sharedSavedUsd: number | null;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly uncachedCostUsd: number | null;
  readonly savedShare: number | null;
  readonly diff: string;
}

/** Counts along while the demonstration runs. */
export class DemoTally {
  private turns = 0;
  private calls = 0;
  private questions = 0;
  private stopReason = 'none';
  private readonly agents: string[] = [];
  private readonly begun = new Set<string>();
  private shared = NO_USAGE;
  private model = '';

  take(item: FeedItem, agent?: string): void {
    if (item.type === 'agent.feed') this.take(item.item, item.agent.id);
    else if (item.type === 'agent.spawned') {
      const { type, name, id } = item.agent;
      this.agents.push(`${type ?? 'fork'} ${name ?? id}`);
    } else if (item.type === 'tool.started') this.calls += 1;
    else if (item.type === 'question.asked') this.questions += 1;
    else if (item.type === 'assistant.message') {
      this.turns += 1;
      if (agent !== undefined && !this.begun.has(agent)) {
        this.begun.add(agent);
        this.model = item.model;
        this.shared = addUsage(this.shared, { ...NO_USAGE, cacheRead: item.usage.cacheRead });
      }
    } else if (item.type === 'run.ended' && agent === undefined) this.stopReason = item.stop.reason;
  }

  async figures({ total }: CostReport, repository: DemoRepository): Promise<DemoFigures> {
    const { turns, calls, agents, questions, stopReason, shared, model } = this;
    const { costUsd, uncachedCostUsd } = total;
    const full = uncachedCostOf(model, shared);
    const paid = costOf(model, shared);
    return {
      testsPass: await repository.testsPass(),
      ...{ stopReason, turns, calls, agents, questions },
      sharedTokens: shared.cacheRead,
      sharedSavedUsd: full === undefined || paid === undefined ? null : full - paid,
      inputTokens: total.inputTokens,
      cacheReadTokens: total.cacheReadTokens,
      cacheWriteTokens: total.cacheWriteTokens,
      outputTokens: total.outputTokens,
      ...{ costUsd, uncachedCostUsd },
      savedShare: costUsd === null || !uncachedCostUsd ? null : 1 - costUsd / uncachedCostUsd,
      diff: await repository.diff(),
    };
  }
}

export const conclusion = (
  figures: DemoFigures,
  { agents, pricesVersion }: CostReport,
  { width }: ChartStyle,
): string => {
  const { testsPass, turns, calls, sharedTokens, sharedSavedUsd, savedShare } = figures;
  const saved =
    savedShare === null || savedShare < 0 ? '' : `: ${Math.round(savedShare * 100)} % saved`;
  const many = figures.agents.length;
  const rows: readonly (readonly [string, string])[] = [
    ['tests', `${testsPass ? 'pass' : 'FAIL'}, checked once more from outside`],
    ['files', changedFiles(figures.diff)],
    ['work', `${plural(turns, 'turn')} and ${plural(calls, 'tool call')} of ${many + 1} agents`],
    [
      'prefix',
      `${plural(many, 'agent')} began with ${count(sharedTokens)} tokens that were in the cache already, because others had sent the very same bytes: ${money(sharedSavedUsd)} saved`,
    ],
    [
      'cost',
      `${money(figures.costUsd)} at the list prices of ${pricesVersion}; without the cache ${money(figures.uncachedCostUsd)}${saved}`,
    ],
    ['next', 'ANTHROPIC_API_KEY=… npx skein --cwd <your repository>; npx skein help tells more'],
  ];
  return [
    '',
    ...agentCostLines(agents, width - 2).map((line) => (line === '' ? line : `  ${line}`)),
    ...rows.flatMap(([name, words]) => row(name, words, width)),
  ]
    .map((line) => `${line}\n`)
    .join('');
};

const row = (name: string, words: string, width: number): readonly string[] =>
  wrapped(words, width, ' '.repeat(10)).map((line, at) =>
    at === 0 ? `  ${name.padEnd(8)}${line.trimStart()}` : line,
  );

/** Without git nobody knows them. */
const changedFiles = (diff: string): string =>
  [...diff.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file]) => file).join(', ') || 'none known';
