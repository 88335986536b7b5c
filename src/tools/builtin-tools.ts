/** The tools that every agent starts with, in the order in which the model reads them. */
import type { Tool } from '../protocol/tool.js';
import { askUser } from './ask-user.js';
import { createWork } from './create-work.js';
import { editFile } from './edit-file.js';
import { editNotebook } from './edit-notebook.js';
import { exitPlanMode } from './exit-plan-mode.js';
import { fetchPage } from './fetch-page.js';
import { findFiles } from './find-files.js';
import { getWork } from './get-work.js';
import { listDirectory } from './list-directory.js';
import { listWork } from './list-work.js';
import { multiEditFile } from './multi-edit-file.js';
import { readFile } from './read-file.js';
import { readTodos } from './read-todos.js';
import { runCommand } from './run-command.js';
import { searchText } from './search-text.js';
import { searchWeb } from './search-web.js';
import { sendMessage } from './send-message.js';
import { spawnAgent } from './spawn-agent.js';
import { stopTask } from './stop-task.js';
import { taskOutput } from './task-output.js';
import { updateWork } from './update-work.js';
import { writeFile } from './write-file.js';
import { writeTodos } from './write-todos.js';

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
  createWork,
  updateWork,
  getWork,
  listWork,
  sendMessage,
  fetchPage,
  searchWeb,
  writeTodos,
  readTodos,
  askUser,
  exitPlanMode,
];
