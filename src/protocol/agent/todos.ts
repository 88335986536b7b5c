/** An agent's own list of things to do: it is replaced as a whole, and journaled with the call. */
import { z } from 'zod';

export const MOST_TODOS = 200;
export const LONGEST_TODO = 1_000;

const words = z.string().regex(/\S/, 'must not be empty').max(LONGEST_TODO);

export const todo = z.strictObject({
  content: words.describe('As an order: "Run the tests".'),
  status: z.enum(['pending', 'in_progress', 'completed']).describe('How far it is.'),
  activeForm: words.optional().describe('Seen while under way: "Running the tests".'),
  id: z.string().min(1).max(100).optional().describe('A name of your own.'),
});
export type Todo = Readonly<z.infer<typeof todo>>;
