import {
  Activity,
  AppWindow,
  Braces,
  Clock,
  CloudUpload,
  FileDiff,
  History,
  KeyRound,
  LayoutDashboard,
  Plug,
  Radio,
  Route,
  Rss,
  ScrollText,
  Send,
  Server,
  Settings,
  ShieldCheck,
  Table2,
  Users,
  Variable,
  Zap,
  type LucideIcon,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { strings } from './strings.ts'
import { editing } from './strings/editing.ts'

/** One page. To add a page, add it here; see README.md. */
export interface PageEntry {
  /** Below `/backend/ui`; parameters begin with `$`. */
  readonly path: string
  /** In the navigation, the breadcrumbs and the palette. A page of one thing has the name of the thing. */
  readonly title: string
  /** The part of the navigation; pages of one thing have none. */
  readonly group?: 'build' | 'operate' | 'access'
  readonly icon?: LucideIcon
  /** The page needs one of these. */
  readonly scopes: readonly [string, ...string[]]
  /** Whether the page exists only in `waypost dev`, or only on servers with a draft. */
  readonly isDevelopment?: boolean
  load(): Promise<{ readonly Page: () => ReactNode }>
}

export const groups = ['build', 'operate', 'access'] as const

export const pages: readonly PageEntry[] = [
  {
    path: '/',
    title: strings.pages.overview,
    icon: LayoutDashboard,
    scopes: ['backend.read'],
    load: () => import('./pages/overview.tsx'),
  },
  {
    path: '/routes',
    title: strings.pages.routes,
    group: 'build',
    icon: Route,
    scopes: ['backend.read'],
    load: () => import('./pages/routes.tsx'),
  },
  {
    path: '/routes/$route',
    title: strings.pages.route,
    scopes: ['backend.read'],
    load: () => import('./pages/route.tsx'),
  },
  {
    path: '/schemas',
    title: strings.pages.schemas,
    group: 'build',
    icon: Braces,
    scopes: ['backend.read'],
    load: () => import('./pages/schemas.tsx'),
  },
  {
    path: '/schemas/$name',
    title: strings.pages.schema,
    scopes: ['backend.read'],
    load: () => import('./pages/schema.tsx'),
  },
  {
    path: '/actions',
    title: strings.pages.actions,
    group: 'build',
    icon: Zap,
    scopes: ['backend.read'],
    load: () => import('./pages/actions.tsx'),
  },
  {
    path: '/actions/$name',
    title: strings.pages.action,
    scopes: ['backend.read'],
    load: () => import('./pages/action.tsx'),
  },
  {
    path: '/tables',
    title: strings.pages.tables,
    group: 'build',
    icon: Table2,
    scopes: ['backend.read'],
    load: () => import('./pages/tables.tsx'),
  },
  {
    path: '/tables/$name',
    title: strings.pages.table,
    scopes: ['backend.read'],
    load: () => import('./pages/table.tsx'),
  },
  {
    path: '/events',
    title: strings.pages.events,
    group: 'build',
    icon: Radio,
    scopes: ['backend.read'],
    load: () => import('./pages/events.tsx'),
  },
  {
    path: '/events/$name',
    title: strings.pages.event,
    scopes: ['backend.read'],
    load: () => import('./pages/event.tsx'),
  },
  {
    path: '/files/$file',
    title: editing.files.title,
    scopes: ['backend.read'],
    load: () => import('./pages/file.tsx'),
  },
  {
    path: '/cronjobs',
    title: strings.operate.pages.cronjobs,
    group: 'build',
    icon: Clock,
    scopes: ['backend.read', 'backend.operate'],
    load: () => import('./pages/cronjobs.tsx'),
  },
  {
    path: '/cronjobs/$name',
    title: strings.operate.pages.cronjob,
    scopes: ['backend.read', 'backend.operate'],
    load: () => import('./pages/cronjob.tsx'),
  },
  {
    path: '/connections',
    title: strings.pages.connections,
    group: 'build',
    icon: Plug,
    scopes: ['backend.read'],
    load: () => import('./pages/connections.tsx'),
  },
  {
    path: '/connections/$name',
    title: strings.pages.connection,
    scopes: ['backend.read'],
    load: () => import('./pages/connection.tsx'),
  },
  {
    path: '/live',
    title: strings.pages.live,
    group: 'build',
    icon: Activity,
    scopes: ['backend.operate'],
    isDevelopment: true,
    load: () => import('./pages/live.tsx'),
  },
  {
    path: '/settings',
    title: strings.pages.settings,
    group: 'build',
    icon: Settings,
    scopes: ['backend.read'],
    load: () => import('./pages/settings.tsx'),
  },
  {
    path: '/changes',
    title: editing.changes.title,
    group: 'build',
    icon: FileDiff,
    isDevelopment: true,
    scopes: ['backend.read'],
    load: () => import('./pages/changes.tsx'),
  },
  {
    path: '/publish',
    title: strings.pages.publish,
    group: 'build',
    icon: CloudUpload,
    isDevelopment: false,
    scopes: ['backend.read'],
    load: () => import('./pages/publish.tsx'),
  },
  {
    path: '/deliveries',
    title: strings.operate.pages.deliveries,
    group: 'operate',
    icon: Send,
    scopes: ['backend.operate'],
    load: () => import('./pages/deliveries.tsx'),
  },
  {
    path: '/deliveries/$id',
    title: strings.operate.pages.delivery,
    scopes: ['backend.operate'],
    load: () => import('./pages/delivery.tsx'),
  },
  {
    path: '/subscriptions',
    title: strings.operate.pages.subscriptions,
    group: 'operate',
    icon: Rss,
    scopes: ['backend.operate'],
    load: () => import('./pages/subscriptions.tsx'),
  },
  {
    path: '/subscriptions/$id',
    title: strings.operate.pages.subscription,
    scopes: ['backend.operate'],
    load: () => import('./pages/subscription.tsx'),
  },
  {
    path: '/releases',
    title: strings.pages.releases,
    group: 'operate',
    icon: History,
    scopes: ['backend.read'],
    load: () => import('./pages/releases.tsx'),
  },
  {
    path: '/releases/$id',
    title: strings.pages.release,
    scopes: ['backend.read'],
    load: () => import('./pages/release.tsx'),
  },
  {
    path: '/servers',
    title: strings.pages.servers,
    group: 'operate',
    icon: Server,
    scopes: ['backend.read'],
    load: () => import('./pages/servers.tsx'),
  },
  {
    path: '/variables',
    title: strings.pages.variables,
    group: 'operate',
    icon: Variable,
    scopes: ['backend.read'],
    load: () => import('./pages/variables.tsx'),
  },
  {
    path: '/audit',
    title: strings.operate.pages.audit,
    group: 'operate',
    icon: ScrollText,
    scopes: ['backend.admin'],
    load: () => import('./pages/audit.tsx'),
  },
  {
    path: '/users',
    title: strings.access.pages.users,
    group: 'access',
    icon: Users,
    scopes: ['backend.admin'],
    load: () => import('./pages/users.tsx'),
  },
  {
    path: '/users/$name',
    title: strings.access.pages.user,
    scopes: ['backend.admin'],
    load: () => import('./pages/user.tsx'),
  },
  {
    path: '/clients',
    title: strings.access.pages.clients,
    group: 'access',
    icon: AppWindow,
    scopes: ['backend.admin'],
    load: () => import('./pages/clients.tsx'),
  },
  {
    path: '/clients/$id',
    title: strings.access.pages.client,
    scopes: ['backend.admin'],
    load: () => import('./pages/client.tsx'),
  },
  {
    path: '/scopes',
    title: strings.access.pages.scopes,
    group: 'access',
    icon: ShieldCheck,
    scopes: ['backend.admin'],
    load: () => import('./pages/scopes.tsx'),
  },
  {
    path: '/scopes/$name',
    title: strings.access.pages.scope,
    scopes: ['backend.admin'],
    load: () => import('./pages/scope.tsx'),
  },
  {
    path: '/tokens',
    title: strings.access.pages.tokens,
    group: 'access',
    icon: KeyRound,
    scopes: ['backend.admin'],
    load: () => import('./pages/tokens.tsx'),
  },
]
