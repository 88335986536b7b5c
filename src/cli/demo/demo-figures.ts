/** Figures of `skein demo`, and a summary of them as text. */
import { asText } from '../../lib/text/as-text.js';
import { requestCost, uncachedRequestCost } from '../../protocol/model/request-cost.js';
import { addUsage, NO_USAGE } from '../../protocol/model/usage.js';
import type { ChartStyle } from '../../terminal/charts/chart-style.js';
import { wrapWords } from '../../terminal/text/fit-text.js';
import { formatMoney, formatNumber, plural } from '../../terminal/text/format-number.js';
import type { CostReport } from '../../views/cost/session-cost.js';
import { agentCostLines } from '../commands/inspect/agent-cost-lines.js';
import type { DemoLine } from './demo-child.js';
import type { DemoRepository } from './demo-repository.js';

export interface DemoFigures {
  readonly testsPass: boolean;
  readonly stopReason: string;
  readonly turns: number;
  readonly calls: number;
  /** Types and names of the sub-agents. */
  readonly agents: readonly string[];
  /** Number of messages between agents. */
  readonly letters: number;
  /** Number of answered questions. */
  readonly questions: number;
  /** Number of processes that ran the swarm one after another. The first process was killed. */
  readonly processes: number;
  /** Tokens that sub-agents read from the cache in their first requests. */
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

/** Figures that the stream does not contain. */
type DemoFacts = Pick<DemoFigures, 'questions' | 'processes'>;

/** Counts turns, calls, messages and agents while the demo runs. */
export class DemoCounter {
  private turns = 0;
  private calls = 0;
  private letters = 0;
  private stopReason = 'none';
  private readonly agents: string[] = [];
  private readonly started = new Set<unknown>();
  private shared = NO_USAGE;
  private model = '';

  take({ type, subtype, message, parent_tool_use_id: call, ...line }: DemoLine): void {
    if (subtype === 'task_started') {
      const kind = line.task_type === 'teammate' ? 'teammate' : line.subagent_type;
      this.agents.push(`${asText(kind) || 'fork'} ${asText(line.name)}`);
    } else if (type === 'assistant') this.count(Object(message) as DemoLine, call);
    else if (type === 'result') this.stopReason = String(line.stop_reason);
  }

  private count({ content, usage, model }: DemoLine, call: unknown): void {
    this.turns += 1;
    const blocks = Array.isArray(content) ? (content as DemoLine[]) : [];
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    this.calls += calls.length;
    this.letters += calls.filter(({ name }) => name === 'SendMessage').length;
    if (call === null || this.started.has(call)) return;
    this.started.add(call);
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
    const full = uncachedRequestCost(model, shared);
    const paid = requestCost(model, shared);
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

export const demoSummary = (
  figures: DemoFigures,
  { agents, pricesVersion }: CostReport,
  { width }: ChartStyle,
): string => {
  const { testsPass, turns, calls, sharedTokens, sharedSavedUsd, savedShare } = figures;
  const saved =
    savedShare === null || savedShare < 0 ? '' : `: ${Math.round(savedShare * 100)} % saved`;
  const agentCount = figures.agents.length;
  const rows: readonly (readonly [string, string])[] = [
    ['tests', `${testsPass ? 'pass' : 'FAIL'}, checked again after the demo`],
    ['files', changedFiles(figures.diff)],
    [
      'work',
      `${plural(turns, 'turn')} and ${plural(calls, 'tool call')} of ${agentCount + 1} agents`,
    ],
    [
      'safety',
      `${plural(figures.questions, 'question')} answered; ${plural(figures.processes - 1, 'kill')} survived; no work was lost or repeated`,
    ],
    [
      'prefix',
      `${plural(agentCount, 'agent')} started with ${formatNumber(sharedTokens)} tokens from the cache, because other agents had sent the same bytes: ${formatMoney(sharedSavedUsd)} saved`,
    ],
    [
      'cost',
      `${formatMoney(figures.costUsd)} at the list prices of ${pricesVersion}; without the cache ${formatMoney(figures.uncachedCostUsd)}${saved}`,
    ],
    ['next', 'ANTHROPIC_API_KEY=… npx skein --cwd <your repository>; npx skein help shows more'],
  ];
  return [
    '',
    ...agentCostLines(agents, width - 2).map((line) => (line === '' ? line : `  ${line}`)),
    ...rows.flatMap(([name, text]) => row(name, text, width)),
  ]
    .map((line) => `${line}\n`)
    .join('');
};

const row = (name: string, text: string, width: number): readonly string[] =>
  wrapWords(text, width, ' '.repeat(10)).map((line, at) =>
    at === 0 ? `  ${name.padEnd(8)}${line.trimStart()}` : line,
  );

/** Returns the changed files. They are unknown without git. */
const changedFiles = (diff: string): string =>
  [...diff.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file]) => file).join(', ') || 'none known';
