/** An item of an agent's own todo list. The list is replaced as a whole and journaled with the call. */
import { z } from 'zod';

export const MAX_TODOS = 200;
export const MAX_TODO_LENGTH = 1_000;

const text = z.string().regex(/\S/, 'must not be empty').max(MAX_TODO_LENGTH);

export const todo = z.strictObject({
  content: text.describe('As an order: "Run the tests".'),
  status: z.enum(['pending', 'in_progress', 'completed']).describe('Its status.'),
  activeForm: text.optional().describe('Shown in progress: "Running the tests".'),
  id: z.string().min(1).max(100).optional().describe('Your id for it.'),
});
export type Todo = Readonly<z.infer<typeof todo>>;
