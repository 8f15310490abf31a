/** `net`, with which electron-updater downloads, and `autoUpdater`, which announces a restart. */
import { EventEmitter } from 'node:events';
import { type ClientRequest, type RequestOptions, request } from 'node:http';

/** Has the same members and events as Node's, as far as they are used here. */
export const net: { request(options: RequestOptions & { session: unknown }): ClientRequest } = {
  request: ({ session: _session, ...options }) => request(options),
};

export const autoUpdater = new EventEmitter();
