/** Of an HTTP message, by lower-case name. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;
