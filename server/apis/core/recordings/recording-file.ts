/** A part of a recording at a time. */
export interface RecordingFile {
  size: number;
  /** Fewer bytes at its end. */
  read(at: number, bytes: number): Promise<Buffer>;
}

/** What every format is read by at first. */
export const headBytes = 64 * 1024;
