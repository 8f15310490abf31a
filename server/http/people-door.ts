/** How people get to the control plane where they sign in (`server/team/people`). */
import type { IncomingMessage } from 'node:http';
import type { Router } from 'express';
import type { Caller } from '../control/people/caller.ts';

export interface PeopleDoor {
  /** The routes of signing in and out, which need no access. */
  signIn: Router;
  /** The caller; undefined for the administrator of the machine. Rejects with a GatewayError. */
  admit(request: IncomingMessage): Promise<Caller | undefined>;
  /**
   * Calls `refused` soon after the caller's access has ended, or what the caller may see has changed. Returns a
   * function that stops watching.
   */
  watch(by: Caller, refused: () => void): () => void;
}
