import { tmpdir } from 'node:os';

/** For a process that a test starts: programs are found, and nothing else is known of whoever runs the tests. */
export const plainEnvironment = { PATH: process.env.PATH ?? '', HOME: tmpdir() };
