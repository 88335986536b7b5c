/** What agents write to each other: plain words, and the few requests that are answered in a set form. */
import { z } from 'zod';

const LONGEST_MESSAGE = 100_000;
const LONGEST_REASON = 4_000;
const LONGEST_ID = 300;

const words = (longest: number) => z.string().regex(/\S/, 'must not be empty').max(longest);
const reason = words(LONGEST_REASON).optional();
const request_id = words(LONGEST_ID);

export const teamRequest = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('shutdown_request'), reason }),
  z.strictObject({
    type: z.literal('shutdown_response'),
    request_id,
    approve: z.boolean(),
    reason,
  }),
  z.strictObject({ type: z.literal('plan_approval_request'), plan: words(LONGEST_MESSAGE) }),
  z.strictObject({
    type: z.literal('plan_approval_response'),
    request_id,
    approve: z.boolean(),
    feedback: reason,
  }),
]);
export type TeamRequest = z.infer<typeof teamRequest>;

export const teamMessage = z.union([words(LONGEST_MESSAGE), teamRequest]);
export type TeamMessage = z.infer<typeof teamMessage>;

/** What SendMessage asks for. */
export interface MessageOrder {
  readonly call: string;
  /** A name, an id or its beginning; `lead`, or `*` for all other teammates. */
  readonly to: string;
  readonly message: TeamMessage;
}

/** What became of it at one address. */
export interface MessageReceipt {
  readonly agent: string;
  /** As it is called: its name, else its id. */
  readonly name: string;
  /**
   * `held`: the agent was stopped by a person, and reads it when it goes on. `refused`: it was stopped by
   * a person. `lost`: nothing is left of it to go on with.
   */
  readonly came: 'delivered' | 'resumed' | 'held' | 'refused' | 'lost';
  /** Of a request that wants an answer. */
  readonly request?: string;
}

/** How everybody calls the lead, and all of a team. */
export const LEAD_NAME = 'lead';
export const EVERYBODY = '*';
