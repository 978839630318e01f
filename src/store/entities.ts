import { accountEntities } from './entities/account-entities.ts'
import { authorizationEntities } from './entities/authorization-entities.ts'
import { cronjobEntities } from './entities/cronjob-entities.ts'
import { eventEntities } from './entities/event-entities.ts'
import { releaseEntities } from './entities/release-entities.ts'
import { systemEntities } from './entities/system-entities.ts'
import { tokenEntities } from './entities/token-entities.ts'

/** Every table of Waypost's own. Property names are the column names. */
export const entities = [
  ...systemEntities,
  ...accountEntities,
  ...tokenEntities,
  ...authorizationEntities,
  ...releaseEntities,
  ...eventEntities,
  ...cronjobEntities,
]
