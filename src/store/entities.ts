import { accountEntities, Client, ClientScope, User, UserScope } from './entities/account-entities.ts'
import { Audit } from './entities/audit-entities.ts'
import { authorizationEntities } from './entities/authorization-entities.ts'
import { cronjobEntities } from './entities/cronjob-entities.ts'
import { eventEntities } from './entities/event-entities.ts'
import { releaseEntities } from './entities/release-entities.ts'
import { statisticEntities } from './entities/statistic-entities.ts'
import { systemEntities } from './entities/system-entities.ts'
import { AccessToken, tokenEntities } from './entities/token-entities.ts'

/** All tables of Waypost. Property names are the column names. */
export const entities = [
  ...systemEntities,
  ...accountEntities,
  ...tokenEntities,
  ...authorizationEntities,
  ...releaseEntities,
  ...eventEntities,
  ...cronjobEntities,
  Audit,
  ...statisticEntities,
]

/** The tables that administration lists. */
export const listedEntities = { User, UserScope, Client, ClientScope, AccessToken, Audit }
