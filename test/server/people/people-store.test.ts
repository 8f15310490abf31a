import { describe } from 'vitest';
import { openPeopleStore } from '../../../server/people/sqlite-people-store.ts';
import { peopleContract } from '../store/contract/people.ts';

describe('people in SQLite', () => {
  peopleContract(async () => openPeopleStore(':memory:'));
});
