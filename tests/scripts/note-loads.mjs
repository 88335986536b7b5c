/**
 * Preload for a program under test: appends the URL of each module that the program loads to the file
 * SKEIN_TEST_LOADS, and a line `request` at its first HTTP request. Runs a second time in the thread of
 * Node's module hooks, which calls `load`.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const REQUEST = 'http.client.request.start';
const note = (line) => appendFileSync(process.env.SKEIN_TEST_LOADS, `${line}\n`);

export const load = (url, context, next) => {
  note(url);
  return next(url, context);
};

const noteRequest = () => {
  unsubscribe(REQUEST, noteRequest);
  note('request');
};

if (isMainThread) {
  register(import.meta.url);
  subscribe(REQUEST, noteRequest);
}
