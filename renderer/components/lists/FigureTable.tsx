import type { ReactNode } from 'react';
import { nothing } from '../../messages/formats.ts';
import classes from './FigureTable.module.css';

interface FigureTableProps {
  /** Headings of the columns of figures. */
  heads: readonly string[];
  /** One value per column; an empty value is shown as a dash. */
  rows: readonly { name: string; values: readonly ReactNode[] }[];
}

/** Compares the figures of several requests side by side. */
export function FigureTable({ heads, rows }: FigureTableProps) {
  return (
    <table className={classes.figures}>
      <thead>
        <tr>
          <td />
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, values }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {heads.map((head, column) => (
              <td key={head}>{values[column] || nothing}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
