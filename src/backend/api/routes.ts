import type { AdminRoute } from './route.ts'
import { accountRoutes } from './routes/account.ts'
import { clientRoutes } from './routes/clients.ts'
import { connectionRoutes } from './routes/connections.ts'
import { draftPlanRoutes } from './routes/draft-plans.ts'
import { draftRoutes } from './routes/draft.ts'
import { draftServerRoutes } from './routes/draft-server.ts'
import { draftTableRoutes } from './routes/draft-tables.ts'
import { definitionRoutes } from './routes/definition.ts'
import { publishRoutes } from './routes/publish.ts'
import { releaseRoutes } from './routes/releases.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { statisticRoutes } from './routes/statistics.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { listenRoutes } from './routes/listen.ts'
import { trafficRoutes } from './routes/traffic.ts'
import { tryRoutes } from './routes/try.ts'
import { userRoutes } from './routes/users.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { runRoutes } from './routes/runs.ts'
import { operationRoutes } from './routes/operations.ts'
import { subscriptionRoutes } from './routes/subscriptions.ts'
import { rowFileRoutes } from './routes/row-files.ts'
import { rowRoutes } from './routes/rows.ts'
import { variableRoutes } from './routes/variables.ts'

const routes = [
  ...accountRoutes,
  ...clientRoutes,
  ...connectionRoutes,
  ...definitionRoutes,
  ...draftRoutes,
  ...draftServerRoutes,
  ...draftTableRoutes,
  ...draftPlanRoutes,
  ...publishRoutes,
  ...releaseRoutes,
  ...rowRoutes,
  ...rowFileRoutes,
  ...scheduleRoutes,
  ...statisticRoutes,
  ...tokenRoutes,
  ...trafficRoutes,
  ...listenRoutes,
  ...tryRoutes,
  ...userRoutes,
  ...variableRoutes,
  ...deliveryRoutes,
  ...runRoutes,
  ...subscriptionRoutes,
  ...operationRoutes,
] as const

/** All routes of the admin API. */
export const adminRoutes: readonly AdminRoute[] = routes

/** All routes of the admin API, with the types of their schemas. */
export type DefinedRoutes = (typeof routes)[number]
