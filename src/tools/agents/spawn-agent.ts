/** Starts an agent that works for the one that calls, and brings its report. */
import { z } from 'zod';
import {
  outcomeOf,
  type Spawned,
  type SpawnPreview,
  SpawnRefusal,
} from '../../protocol/agent/swarm.js';
import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import { defineTool, type Tool, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { shortLine } from '../truncation.js';
import { agentLabel, gistOf, reportText } from './agent-report.js';

const LONGEST_DESCRIPTION = 200;
const LONGEST_PROMPT = 200_000;
const LONGEST_NAME = 100;
const MOST_PREVIEWED = 1_000;

const PROMPT = `Starts an agent for a task, and returns its report.

Without subagent_type it is a fork of you. One in the background reports in a message; TaskOutput and TaskStop take its id. With name and team_name it is a teammate: it rests when it has done its work, and goes on when somebody writes to it.`;

const text = (longest: number) => z.string().regex(/\S/, 'must not be empty').max(longest);

/**
 * Names stand among words of ours in what others read, so nothing in them can pass for more than a name.
 * Marks are what many scripts write their letters with.
 */
const named = () =>
  text(LONGEST_NAME)
    .trim()
    .refine(
      (name) => /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u.test(name),
      'begin with a letter or digit, and go on with letters, digits, blanks, ".", "_" or "-"',
    );

/** What is said in place of an agent's name is never the name of another. */
const isFree = (name: string): boolean => name.toLowerCase() !== LEAD_NAME && !/^a_/i.test(name);

const input = z.strictObject({
  description: text(LONGEST_DESCRIPTION).describe('The task in 3 to 6 words.'),
  prompt: text(LONGEST_PROMPT).describe('The whole task.'),
  subagent_type: text(LONGEST_NAME).optional().describe('Type of agent.'),
  run_in_background: z.boolean().optional().describe('Return at once with its id.'),
  name: named()
    .refine(isFree, 'needs another name: lead, and what begins like an id (a_), mean somebody else')
    .optional()
    .describe('Name to call it by.'),
  team_name: named().optional().describe('With name: a teammate, which stays.'),
  isolation: z
    .literal('worktree')
    .optional()
    .describe('A git worktree of its own; its changes are merged when it ends.'),
  model: text(LONGEST_NAME).optional().describe('Another model; not for a fork.'),
  preview: z
    .int()
    .min(1)
    .max(MOST_PREVIEWED)
    .optional()
    .describe('Start none, say what so many would cost.'),
});

/** What it is made of never depends on the listing, but for the end of its prompt. */
export const taskTool = (listing: string): Tool =>
  defineTool({
    name: 'Task',
    kind: 'builtin',
    prompt: listing === '' ? PROMPT : `${PROMPT}\n\nsubagent_type is one of:\n${listing}`,
    input,
    describe: ({ subagent_type, description, preview }) => {
      const who = shortLine(whoOf(subagent_type), LONGEST_NAME);
      const many = preview === undefined ? '' : ` (cost of ${preview})`;
      return `Task ${who}${many}: ${shortLine(description.trim(), LONGEST_DESCRIPTION)}`;
    },
    isReadOnly: () => false,
    isConcurrencySafe: () => true,
    onlyWaits: true,
    rejoins: true,
    // Each call of the agent is judged by itself; rules such as Task(explorer) name what is started.
    subject: ({ subagent_type }) => ({ action: 'none', target: whoOf(subagent_type) }),
    interruptBehavior: 'cancel',
    async call(asked, { agents, call, signal }) {
      if (agents === undefined) {
        throw new ToolFailure('No agents can be started here. Do the work yourself.');
      }
      const { subagent_type: type, model, name, description, prompt, preview } = asked;
      const team = asked.team_name;
      if (team !== undefined && name === undefined) {
        throw new ToolFailure('A teammate needs a name, by which others write to it.');
      }
      if (preview !== undefined) {
        const cost = await unlessRefused(async () => agents.preview(preview, { type, model }));
        return previewed(cost, whoOf(type));
      }
      const { run_in_background: background, isolation } = asked;
      const order = { call, description, prompt, type, background, name, team, model, isolation };
      return outcome(await unlessRefused(() => agents.spawn(order, signal)));
    },
  });

/** For whoever knows of no agents but forks. */
export const spawnAgent = taskTool('');

const whoOf = (type: string | undefined): string => type ?? 'fork';

/** What the swarm will not do it says in a sentence for the model. */
const unlessRefused = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SpawnRefusal) throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
};

const outcome = (spawned: Spawned): ToolOutcome => {
  if (spawned.kind === 'started') {
    const { agent, isQueued } = spawned;
    const state = isQueued ? 'It waits for a place' : 'It works';
    if (agent.kind === 'teammate') {
      return {
        content: `Started the teammate ${agentLabel(agent)}. ${state}; it tells you when it rests. SendMessage to ${JSON.stringify(agent.name ?? agent.id)} reaches it, TaskStop ends it.`,
        gist: 'started',
        facts: { agent: agent.id, status: isQueued ? 'queued' : 'running' },
      };
    }
    return {
      content: `Started in the background: agent ${agentLabel(agent)}. ${state}; its report will reach you as a message. TaskOutput and TaskStop take the id ${agent.id}.`,
      gist: 'started',
      facts: { agent: agent.id, status: isQueued ? 'queued' : 'running' },
    };
  }
  const { report } = spawned;
  const { agent, stop, turns, tokens, cost, worktree } = report;
  const status = outcomeOf(stop);
  return {
    content: reportText(report),
    gist: gistOf(report),
    ...(status !== 'completed' && { isError: true }),
    facts: {
      agent: agent.id,
      turns,
      tokens,
      ...(cost !== null && { cost }),
      status,
      ...(worktree !== undefined && { worktree: worktree.outcome.kind }),
    },
  };
};

const previewed = (preview: SpawnPreview | undefined, who: string): ToolOutcome => {
  if (preview === undefined) {
    throw new ToolFailure('Nobody knows the price of that model, so no cost can be told.');
  }
  const { count, model, withCache, withoutCache, observed = 0 } = preview;
  const basis =
    observed === 0 ? 'A guess: none has ended yet.' : `Judged by ${observed} that ended.`;
  return {
    content: `Nothing was started. ${count} of ${shortLine(who, LONGEST_NAME)} on ${model} would cost about ${range(withCache)} with the cache, ${range(withoutCache)} without it. ${basis}`,
    facts: { count, leastCost: withCache[0], mostCost: withCache[1] },
  };
};

const range = ([least, most]: readonly [number, number]): string => `${usd(least)} to ${usd(most)}`;

const usd = (amount: number): string => `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;
