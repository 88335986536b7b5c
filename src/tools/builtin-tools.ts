/** Built-in tools of every agent, in the order of the prompt. */
import type { Tool } from '../protocol/tools/tool.js';
import { sendMessage } from './agents/send-message.js';
import { spawnAgent } from './agents/spawn-agent.js';
import { askUser } from './dialog/ask-user.js';
import { exitPlanMode } from './dialog/exit-plan-mode.js';
import { readTodos } from './dialog/read-todos.js';
import { writeTodos } from './dialog/write-todos.js';
import { editFile } from './files/edit-file.js';
import { multiEditFile } from './files/multi-edit-file.js';
import { readFile } from './files/read-file.js';
import { writeFile } from './files/write-file.js';
import { editNotebook } from './notebooks/edit-notebook.js';
import { findFiles } from './search/find-files.js';
import { listDirectory } from './search/list-directory.js';
import { searchText } from './search/search-text.js';
import { runCommand } from './shell/run-command.js';
import { stopTask } from './shell/stop-task.js';
import { taskOutput } from './shell/task-output.js';
import { createTask } from './tasks/create-task.js';
import { getTask } from './tasks/get-task.js';
import { listTasks } from './tasks/list-tasks.js';
import { updateTask } from './tasks/update-task.js';
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
