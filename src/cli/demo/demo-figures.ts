/** What `skein demo` came to: in figures, and in words for a person. */
import { costOf, uncachedCostOf } from '../../protocol/model/prices.js';
import { addUsage, NO_USAGE } from '../../protocol/model/usage.js';
import type { ChartStyle } from '../../terminal/text/bar-chart.js';
import { count, money, plural, wrapped } from '../../terminal/text/format-numbers.js';
import type { CostReport } from '../../views/cost/session-cost.js';
import { agentCostLines } from '../commands/inspect/agent-cost-text.js';
import { type DemoLine, wordOf } from './demo-child.js';
import type { DemoRepository } from './demo-repository.js';

export interface DemoFigures {
  readonly testsPass: boolean;
  readonly stopReason: string;
  readonly turns: number;
  readonly calls: number;
  /** Those that worked for the lead. */
  readonly agents: readonly string[];
  /** What they wrote to each other. */
  readonly letters: number;
  /** Questions that somebody answered. */
  readonly questions: number;
  /** That ran the swarm, one after the other: the first one was killed. */
  readonly processes: number;
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

/** What only the demonstration itself knows. */
export type DemoFacts = Pick<DemoFigures, 'questions' | 'processes'>;

/** Counts along while the demonstration runs. */
export class DemoTally {
  private turns = 0;
  private calls = 0;
  private letters = 0;
  private stopReason = 'none';
  private readonly agents: string[] = [];
  private readonly begun = new Set<unknown>();
  private shared = NO_USAGE;
  private model = '';

  take({ type, subtype, message, parent_tool_use_id: call, ...line }: DemoLine): void {
    if (subtype === 'task_started') {
      const kind = line.task_type === 'teammate' ? 'teammate' : line.subagent_type;
      this.agents.push(`${wordOf(kind) || 'fork'} ${wordOf(line.name)}`);
    } else if (type === 'assistant') this.count(Object(message) as DemoLine, call);
    else if (type === 'result') this.stopReason = String(line.stop_reason);
  }

  private count({ content, usage, model }: DemoLine, call: unknown): void {
    this.turns += 1;
    const blocks = Array.isArray(content) ? (content as DemoLine[]) : [];
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    this.calls += calls.length;
    this.letters += calls.filter(({ name }) => name === 'SendMessage').length;
    if (call === null || this.begun.has(call)) return;
    this.begun.add(call);
    this.model = String(model);
    const { cache_read_input_tokens: cacheRead } = Object(usage) as DemoLine;
    this.shared = addUsage(this.shared, { ...NO_USAGE, cacheRead: Number(cacheRead ?? 0) });
  }

  async figures(
    { total }: CostReport,
    repository: DemoRepository,
    facts: DemoFacts,
  ): Promise<DemoFigures> {
    const { turns, calls, letters, agents, stopReason, shared, model } = this;
    const { costUsd, uncachedCostUsd } = total;
    const full = uncachedCostOf(model, shared);
    const paid = costOf(model, shared);
    return {
      testsPass: await repository.testsPass(),
      stopReason,
      turns,
      calls,
      letters,
      agents,
      ...facts,
      sharedTokens: shared.cacheRead,
      sharedSavedUsd: full === undefined || paid === undefined ? null : full - paid,
      inputTokens: total.inputTokens,
      cacheReadTokens: total.cacheReadTokens,
      cacheWriteTokens: total.cacheWriteTokens,
      outputTokens: total.outputTokens,
      costUsd,
      uncachedCostUsd,
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
      'safety',
      `${plural(figures.questions, 'question')} answered; ${plural(figures.processes - 1, 'kill')} survived, and nothing was lost or done twice`,
    ],
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
