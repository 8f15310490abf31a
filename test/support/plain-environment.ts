import { tmpdir } from 'node:os';

/**
 * For a process that a test starts: programs are found on the PATH, and nothing else of the caller's environment is
 * passed on.
 */
export const plainEnvironment = { PATH: process.env.PATH ?? '', HOME: tmpdir() };
