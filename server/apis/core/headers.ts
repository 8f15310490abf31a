/** Header fields of an HTTP message, by lowercase name. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;
