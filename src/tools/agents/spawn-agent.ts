/** Task: starts a child agent and returns its report. */
import { z } from 'zod';
import { AgentRefusal, type Spawned, type SpawnPreview } from '../../protocol/agent/agents.js';
import { outcomeOf } from '../../protocol/agent/child-report.js';
import { LEAD_NAME } from '../../protocol/agent/team-message.js';
import { defineTool, type Tool, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { truncateLine } from '../text/truncate-text.js';
import { agentLabel, agentReport, reportGist } from './agent-report.js';

const MAX_DESCRIPTION_LENGTH = 200;
const MAX_PROMPT_LENGTH = 200_000;
const MAX_NAME_LENGTH = 100;
const MAX_PREVIEWED = 1_000;

const PROMPT = `Starts an agent for a task, and returns its report.

Without subagent_type it is a fork of you. A background agent reports in a message; TaskOutput and TaskStop take its id. With name and team_name it is a teammate: it is idle after its task, and resumes when it gets a message.`;

const text = (maxLength: number) => z.string().regex(/\S/, 'must not be empty').max(maxLength);

/**
 * Schema of a name. Names appear inside text of Skein, so they must not look like more than a name.
 * Combining marks are allowed, because many scripts need them.
 */
const named = () =>
  text(MAX_NAME_LENGTH)
    .trim()
    .refine(
      (name) => /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]*$/u.test(name),
      'begin with a letter or digit, then use letters, digits, blanks, ".", "_" or "-"',
    );

/** True if the name is not reserved: `lead` and agent ids are addresses of other agents. */
const isFree = (name: string): boolean => name.toLowerCase() !== LEAD_NAME && !/^a_/i.test(name);

const input = z.strictObject({
  description: text(MAX_DESCRIPTION_LENGTH).describe('The task in 3 to 6 words.'),
  prompt: text(MAX_PROMPT_LENGTH).describe('The whole task.'),
  subagent_type: text(MAX_NAME_LENGTH).optional().describe('Type of agent.'),
  run_in_background: z.boolean().optional().describe('Return at once with its id.'),
  name: named()
    .refine(isFree, 'needs another name: lead and names that begin with a_ are reserved')
    .optional()
    .describe('Name to call it by.'),
  team_name: named().optional().describe('With name: a teammate, which stays.'),
  isolation: z
    .literal('worktree')
    .optional()
    .describe('Its own git worktree; its changes are merged when it ends.'),
  model: text(MAX_NAME_LENGTH).optional().describe('Another model; not for a fork.'),
  preview: z
    .int()
    .min(1)
    .max(MAX_PREVIEWED)
    .optional()
    .describe('Only estimate the cost of this many.'),
});

/** Defines the tool. Only the end of its description depends on the listing. */
export const taskTool = (listing: string): Tool =>
  defineTool({
    name: 'Task',
    kind: 'builtin',
    prompt: listing === '' ? PROMPT : `${PROMPT}\n\nsubagent_type is one of:\n${listing}`,
    mentions: [
      {
        of: ['TaskOutput', 'TaskStop'],
        text: '; TaskOutput and TaskStop take its id',
        instead: '',
      },
      { of: ['TaskOutput'], text: 'TaskOutput and TaskStop take', instead: 'TaskStop takes' },
      { of: ['TaskStop'], text: 'TaskOutput and TaskStop take', instead: 'TaskOutput takes' },
    ],
    input,
    describe: ({ subagent_type, description, preview }) => {
      const type = truncateLine(typeOf(subagent_type), MAX_NAME_LENGTH);
      const costNote = preview === undefined ? '' : ` (cost of ${preview})`;
      return `Task ${type}${costNote}: ${truncateLine(description.trim(), MAX_DESCRIPTION_LENGTH)}`;
    },
    isReadOnly: () => false,
    isConcurrencySafe: () => true,
    onlyWaits: true,
    rejoins: true,
    // Each call of the agent is judged separately; rules such as Task(explorer) name its type.
    subject: ({ subagent_type }) => ({ action: 'none', target: typeOf(subagent_type) }),
    interruptBehavior: 'cancel',
    async call(request, { agents, call, signal }) {
      if (agents === undefined) {
        throw new ToolFailure('No agents can be started here. Do the work yourself.');
      }
      const { subagent_type: type, model, name, description, prompt, preview } = request;
      const team = request.team_name;
      if (team !== undefined && name === undefined) {
        throw new ToolFailure('A teammate needs a name, so that others can write to it.');
      }
      if (preview !== undefined) {
        const cost = await unlessRefused(async () => agents.preview(preview, { type, model }));
        return previewed(cost, typeOf(type));
      }
      const { run_in_background: background, isolation } = request;
      const order = { call, description, prompt, type, background, name, team, model, isolation };
      return outcome(await unlessRefused(() => agents.spawn(order, signal)));
    },
  });

/** The tool without a listing, for a session with forks only. */
export const spawnAgent = taskTool('');

const typeOf = (type: string | undefined): string => type ?? 'fork';

/** Rejects with ToolFailure in place of AgentRefusal. */
const unlessRefused = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AgentRefusal) throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
};

const outcome = (spawned: Spawned): ToolOutcome => {
  if (spawned.kind === 'started') {
    const { agent, isQueued } = spawned;
    const state = isQueued ? 'It waits for a slot' : 'It is running';
    if (agent.kind === 'teammate') {
      return {
        content: `Started the teammate ${agentLabel(agent)}. ${state}; a message reports when it is idle. SendMessage to ${JSON.stringify(agent.name ?? agent.id)} reaches it, TaskStop stops it.`,
        gist: 'started',
        facts: { agent: agent.id, status: isQueued ? 'queued' : 'running' },
      };
    }
    return {
      content: `Started in the background: agent ${agentLabel(agent)}. ${state}; its report will arrive as a message. TaskOutput and TaskStop take the id ${agent.id}.`,
      gist: 'started',
      facts: { agent: agent.id, status: isQueued ? 'queued' : 'running' },
    };
  }
  const { report } = spawned;
  const { agent, stop, turns, tokens, cost, worktree } = report;
  const status = outcomeOf(stop);
  return {
    content: agentReport(report),
    isDefused: true,
    gist: reportGist(report),
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

const previewed = (preview: SpawnPreview | undefined, type: string): ToolOutcome => {
  if (preview === undefined) {
    throw new ToolFailure('The price of that model is unknown, so no cost can be estimated.');
  }
  const { count, model, withCache, withoutCache, observed = 0 } = preview;
  const basis =
    observed === 0 ? 'A guess: none has ended yet.' : `Based on ${observed} that ended.`;
  return {
    content: `Nothing was started. ${count} of ${truncateLine(type, MAX_NAME_LENGTH)} on ${model} would cost about ${range(withCache)} with the cache, ${range(withoutCache)} without it. ${basis}`,
    facts: { count, leastCost: withCache[0], mostCost: withCache[1] },
  };
};

const range = ([min, max]: readonly [number, number]): string => `${usd(min)} to ${usd(max)}`;

const usd = (amount: number): string => `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;
