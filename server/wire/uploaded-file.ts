/** A file of a form. */
export interface UploadedFile {
  /** As the client named it; may be empty. */
  name: string;
  /** As the client sent it. */
  mediaType: string;
  data: Buffer;
}

/** A form as a JSON-like value: texts, and lists of files. Names lose their `[]`. */
export type FormValue = Record<string, string | UploadedFile[]>;
