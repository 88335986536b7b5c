/** All entries, in the order of the tools. */
import { askUser, exitPlanMode, todoRead, todoWrite } from './agent.js';
import { edit } from './edit.js';
import type { Entry } from './entry.js';
import { glob, grep, ls } from './find.js';
import { message } from './message.js';
import { multiEdit } from './multi-edit.js';
import { notebookEdit } from './notebook-edit.js';
import { read } from './read.js';
import { bash, taskOutput, taskStop } from './shell.js';
import { task } from './spawn.js';
import { webFetch, webSearch } from './web.js';
import { taskCreate, taskGet, taskList, taskUpdate } from './work.js';
import { write } from './write.js';

export const ENTRIES: readonly Entry[] = [
  read,
  edit,
  multiEdit,
  write,
  notebookEdit,
  glob,
  grep,
  ls,
  bash,
  task,
  taskOutput,
  taskStop,
  taskCreate,
  taskUpdate,
  taskGet,
  taskList,
  message,
  webFetch,
  webSearch,
  todoWrite,
  todoRead,
  askUser,
  exitPlanMode,
];
