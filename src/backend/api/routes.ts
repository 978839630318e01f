import type { AdminRoute } from './route.ts'
import { accountRoutes } from './routes/account.ts'
import { releaseRoutes } from './routes/releases.ts'
import { statisticRoutes } from './routes/statistics.ts'

/** All routes of the admin API. */
export const adminRoutes: readonly AdminRoute[] = [...accountRoutes, ...releaseRoutes, ...statisticRoutes]
