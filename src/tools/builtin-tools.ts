/** Built-in tools of every agent, in the order of the prompt. */
import type { Tool } from '../protocol/tools/tool.js';
import { sendMessage } from './agents/send-message.js';
import { spawnAgent } from './agents/spawn-agent.js';
import { stopTask } from './background/stop-task.js';
import { taskOutput } from './background/task-output.js';
import { askUser } from './dialog/ask-user.js';
import { exitPlanMode } from './dialog/exit-plan-mode.js';
import { editFile } from './files/edit-file.js';
import { multiEditFile } from './files/multi-edit-file.js';
import { readFile } from './files/read-file.js';
import { writeFile } from './files/write-file.js';
import { editNotebook } from './notebooks/edit-notebook.js';
import { findFiles } from './search/find-files.js';
import { listDirectory } from './search/list-directory.js';
import { searchText } from './search/search-text.js';
import { runCommand } from './shell/run-command.js';
import { createTask } from './tasks/create-task.js';
import { getTask } from './tasks/get-task.js';
import { listTasks } from './tasks/list-tasks.js';
import { updateTask } from './tasks/update-task.js';
import { readTodos } from './todos/read-todos.js';
import { writeTodos } from './todos/write-todos.js';
import { fetchPage } from './web/fetch-page.js';
import { searchWeb } from './web/search-web.js';

export const builtinTools: readonly Tool[] = [
  readFile,
  editFile,
  multiEditFile,
  writeFile,
  editNotebook,
  findFiles,
  searchText,
  listDirectory,
  runCommand,
  spawnAgent,
  taskOutput,
  stopTask,
  createTask,
  updateTask,
  getTask,
  listTasks,
  sendMessage,
  fetchPage,
  searchWeb,
  writeTodos,
  readTodos,
  askUser,
  exitPlanMode,
];
