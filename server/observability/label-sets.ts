/** The labels of a time series, besides closed sets such as an outcome. */
export type SeriesLabels = Readonly<Record<'group' | 'provider' | 'model', string>>;

/** Replaces names beyond the limit. */
const otherLabel = 'other';
/** Used if a request has no group, reached no provider, or names no model. */
const noLabel = 'none';

/**
 * Bounds the number of time series, because clients choose the names of models. The first `limit` combinations of
 * group, provider and model are distinguished. After that, a new combination is counted without its model; once there
 * are `limit` of these as well, all new ones are counted as `other`.
 */
export class LabelSets {
  readonly #limit: number;
  readonly #complete = new Map<string, SeriesLabels>();
  readonly #withoutModel = new Map<string, SeriesLabels>();
  readonly #others: SeriesLabels = { group: otherLabel, provider: otherLabel, model: otherLabel };

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(group: string | null, provider: string | null, model: string | null): SeriesLabels {
    const labels = { group: group ?? noLabel, provider: provider ?? noLabel, model: model ?? noLabel };
    return (
      this.#recorded(this.#complete, labels) ??
      this.#recorded(this.#withoutModel, { ...labels, model: otherLabel }) ??
      this.#others
    );
  }

  #recorded(sets: Map<string, SeriesLabels>, labels: SeriesLabels): SeriesLabels | undefined {
    const name = `${labels.group}\n${labels.provider}\n${labels.model}`;
    const existing = sets.get(name);
    if (existing || sets.size >= this.#limit) return existing;
    sets.set(name, labels);
    return labels;
  }
}
