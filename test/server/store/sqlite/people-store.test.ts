import { describe } from 'vitest';
import { openPeopleStore } from '../../../../server/store/sqlite/people-store.ts';
import { peopleContract } from '../contract/people.ts';

describe('people in SQLite', () => {
  peopleContract(async () => openPeopleStore(':memory:'));
});
