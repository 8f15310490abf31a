/** What electron-updater loads with, and tells of a restart. */
import { EventEmitter } from 'node:events';
import { type ClientRequest, type RequestOptions, request } from 'node:http';

/** Electron's own has the members and events of Node's, as far as anybody here uses them. */
export const net: { request(options: RequestOptions & { session: unknown }): ClientRequest } = {
  request: ({ session: _session, ...options }) => request(options),
};

export const autoUpdater = new EventEmitter();
