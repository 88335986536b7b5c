/** Sample questions of agents for inbox tests. */
import type {
  PermissionQuestion,
  PersonQuestion,
} from '../../../src/protocol/permission/permission-question.js';

export const permission = (change: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  id: 'q_1',
  agent: 'a_1',
  call: 'toolu_1',
  tool: 'Bash',
  inputDigest: 'digest',
  input: { command: 'npm test' },
  description: 'Bash npm test',
  cwd: '/work',
  reason: 'No rule allows it.',
  risk: 'medium',
  grant: 'Bash(npm test)',
  ...change,
});

export const choice = (change: Partial<PersonQuestion> = {}): PersonQuestion => ({
  id: 'q_2',
  agent: 'a_1',
  call: 'toolu_2',
  question: 'Which one?',
  multiple: false,
  options: [{ label: 'red' }, { label: 'green', description: 'like grass' }],
  ...change,
});
