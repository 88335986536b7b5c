/** Detects calls that repeat with the same result, warns the agent and stops it at the limit. */
import type { CommonFailures } from '../../context/common-failures.js';
import type { History } from '../../context/history/history.js';
import { stops } from '../../machines/stops.js';
import type { AgentLimits } from '../../protocol/agent/agent-limits.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { CallOutcome, CallTrace } from '../../protocol/session/journal-record.js';
import type { ResultBlock } from '../../protocol/tools/tool.js';
import { inputDigest, shortDigest } from '../permissions/input-digest.js';
import type { PendingCall } from './pending-call.js';

export type LoopLimits = Pick<
  AgentLimits,
  'roundsBeforeWarning' | 'maxRounds' | 'maxCallsPerMessage'
>;

type Content = string | readonly ResultBlock[];

interface ObservedCall {
  readonly outcome: CallOutcome;
  readonly content: Content;
  readonly failed: boolean;
  /** Content of the result for comparison, if its text differs each time. */
  readonly gist: string | undefined;
}

interface LoopFinding {
  /** Result content, with the warning if there is any. */
  readonly content: Content;
  readonly trace: CallTrace | undefined;
  /** Set if the agent must stop. */
  readonly stop: Stop | undefined;
}

/** Number of agents with the same failure from which each of them is warned. */
const AGENTS_BEFORE_WARNING = 3;

export class LoopDetector {
  private readonly agent: string;
  private readonly history: History;
  private readonly limits: LoopLimits;
  private readonly failures: CommonFailures | undefined;

  constructor(
    agent: string,
    history: History,
    limits: LoopLimits,
    failures: CommonFailures | undefined,
  ) {
    this.agent = agent;
    this.history = history;
    this.limits = limits;
    this.failures = failures;
  }

  observe(
    { requested, number, call, digest: startedDigest }: PendingCall,
    observed: ObservedCall,
  ): LoopFinding {
    const { outcome, content, gist } = observed;
    // An interrupted call does not show what its result would be.
    if (outcome === 'interrupted') return { content, trace: undefined, stop: undefined };
    const { tool, malformed } = requested;
    const input = startedDigest ?? inputDigest(malformed ?? call?.input ?? requested.input);
    const text = gist ?? (typeof content === 'string' ? content : JSON.stringify(content));
    const result = shortDigest(`${outcome}\n${text}`);
    const digest = shortDigest(`${tool}\n${input}\n${result}`);
    if (call?.tool.polls?.(call.input) === true) {
      return { content, trace: { digest, polls: true }, stop: undefined };
    }
    // Thousands of calls may be over the limit of a message, so their results carry no warning.
    if (number > this.limits.maxCallsPerMessage) {
      return { content, trace: { digest }, stop: undefined };
    }
    const rounds = this.history.loopGuard.roundsWith(digest);
    const agents = this.agentsThatFail(`${tool}\n${input}`, observed.failed, result);
    const warning = this.warning(tool, rounds, agents);
    if (warning === undefined) return { content, trace: { digest }, stop: undefined };
    return {
      content: appendText(content, warning),
      trace: { digest, told: rounds },
      stop: this.isHopeless(rounds, agents) ? stops.loopOfMany(tool, agents) : undefined,
    };
  }

  private agentsThatFail(call: string, failed: boolean, result: string): number {
    if (failed) return this.failures?.count(this.agent, call, result) ?? 1;
    this.failures?.forget(call);
    return 1;
  }

  private warning(tool: string, rounds: number, agents: number): string | undefined {
    const { roundsBeforeWarning, maxRounds } = this.limits;
    if (rounds >= roundsBeforeWarning) return repetitionText(tool, rounds, maxRounds);
    return agents >= AGENTS_BEFORE_WARNING ? commonFailureText(tool, agents) : undefined;
  }

  /**
   * True if other agents failed as well and this agent has been warned. The last of the other failures may be newer
   * than the previous round, so the warning of this round is not enough.
   */
  private isHopeless(rounds: number, agents: number): boolean {
    return agents >= AGENTS_BEFORE_WARNING && rounds > this.limits.roundsBeforeWarning;
  }
}

const repetitionText = (tool: string, rounds: number, maxRounds: number): string =>
  `[Skein: you have made this call ${rounds} times, and ${tool} returned the same result each time. Do not repeat it: try another way, or end and report the obstacle. To wait, use a command that waits, or TaskOutput. At ${maxRounds} times you are stopped.]`;

const commonFailureText = (tool: string, agents: number): string =>
  `[Skein: ${agents} agents of this swarm have made this call of ${tool}, and it failed in the same way for each. Do not repeat it: try another way, or report the obstacle to your parent agent.]`;

const appendText = (content: Content, text: string): Content =>
  typeof content === 'string' ? `${content}\n\n${text}` : [...content, { type: 'text', text }];
