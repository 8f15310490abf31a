/** The memory that one request and its answer take up, among what all of them together may. */
export interface HeldBytes {
  /** More than all of them may take up is taken up. */
  readonly isTooMuch: boolean;
  /** Less than nothing gives it back. */
  add(bytes: number): void;
}
