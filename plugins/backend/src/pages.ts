import {
  Activity,
  AppWindow,
  Braces,
  Clock,
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
  /** The scope that the page needs. */
  readonly scope: string
  /** Whether the page exists only in `waypost dev`. */
  readonly isDevelopment?: true
  load(): Promise<{ readonly Page: () => ReactNode }>
}

export const groups = ['build', 'operate', 'access'] as const

export const pages: readonly PageEntry[] = [
  {
    path: '/',
    title: strings.pages.overview,
    icon: LayoutDashboard,
    scope: 'backend.read',
    load: () => import('./pages/overview.tsx'),
  },
  {
    path: '/routes',
    title: strings.pages.routes,
    group: 'build',
    icon: Route,
    scope: 'backend.read',
    load: () => import('./pages/routes.tsx'),
  },
  {
    path: '/routes/$route',
    title: strings.pages.route,
    scope: 'backend.read',
    load: () => import('./pages/route.tsx'),
  },
  {
    path: '/schemas',
    title: strings.pages.schemas,
    group: 'build',
    icon: Braces,
    scope: 'backend.read',
    load: () => import('./pages/schemas.tsx'),
  },
  {
    path: '/schemas/$name',
    title: strings.pages.schema,
    scope: 'backend.read',
    load: () => import('./pages/schema.tsx'),
  },
  {
    path: '/actions',
    title: strings.pages.actions,
    group: 'build',
    icon: Zap,
    scope: 'backend.read',
    load: () => import('./pages/actions.tsx'),
  },
  {
    path: '/actions/$name',
    title: strings.pages.action,
    scope: 'backend.read',
    load: () => import('./pages/action.tsx'),
  },
  {
    path: '/tables',
    title: strings.pages.tables,
    group: 'build',
    icon: Table2,
    scope: 'backend.read',
    load: () => import('./pages/tables.tsx'),
  },
  {
    path: '/tables/$name',
    title: strings.pages.table,
    scope: 'backend.read',
    load: () => import('./pages/table.tsx'),
  },
  {
    path: '/events',
    title: strings.pages.events,
    group: 'build',
    icon: Radio,
    scope: 'backend.read',
    load: () => import('./pages/events.tsx'),
  },
  {
    path: '/events/$name',
    title: strings.pages.event,
    scope: 'backend.read',
    load: () => import('./pages/event.tsx'),
  },
  {
    path: '/files/$file',
    title: editing.files.title,
    scope: 'backend.read',
    load: () => import('./pages/file.tsx'),
  },
  {
    path: '/cronjobs',
    title: strings.operate.pages.cronjobs,
    group: 'build',
    icon: Clock,
    scope: 'backend.read',
    load: () => import('./pages/cronjobs.tsx'),
  },
  {
    path: '/connections',
    title: strings.pages.connections,
    group: 'build',
    icon: Plug,
    scope: 'backend.read',
    load: () => import('./pages/connections.tsx'),
  },
  {
    path: '/live',
    title: strings.pages.live,
    group: 'build',
    icon: Activity,
    scope: 'backend.operate',
    isDevelopment: true,
    load: () => import('./pages/live.tsx'),
  },
  {
    path: '/settings',
    title: strings.pages.settings,
    group: 'build',
    icon: Settings,
    scope: 'backend.read',
    load: () => import('./pages/settings.tsx'),
  },
  {
    path: '/changes',
    title: editing.changes.title,
    group: 'build',
    icon: FileDiff,
    isDevelopment: true,
    scope: 'backend.read',
    load: () => import('./pages/changes.tsx'),
  },
  {
    path: '/deliveries',
    title: strings.operate.pages.deliveries,
    group: 'operate',
    icon: Send,
    scope: 'backend.operate',
    load: () => import('./pages/deliveries.tsx'),
  },
  {
    path: '/deliveries/$id',
    title: strings.operate.pages.delivery,
    scope: 'backend.operate',
    load: () => import('./pages/delivery.tsx'),
  },
  {
    path: '/subscriptions',
    title: strings.operate.pages.subscriptions,
    group: 'operate',
    icon: Rss,
    scope: 'backend.operate',
    load: () => import('./pages/subscriptions.tsx'),
  },
  {
    path: '/subscriptions/$id',
    title: strings.operate.pages.subscription,
    scope: 'backend.operate',
    load: () => import('./pages/subscription.tsx'),
  },
  {
    path: '/releases',
    title: strings.pages.releases,
    group: 'operate',
    icon: History,
    scope: 'backend.read',
    load: () => import('./pages/releases.tsx'),
  },
  {
    path: '/releases/$id',
    title: strings.pages.release,
    scope: 'backend.read',
    load: () => import('./pages/release.tsx'),
  },
  {
    path: '/servers',
    title: strings.pages.servers,
    group: 'operate',
    icon: Server,
    scope: 'backend.read',
    load: () => import('./pages/servers.tsx'),
  },
  {
    path: '/variables',
    title: strings.pages.variables,
    group: 'operate',
    icon: Variable,
    scope: 'backend.read',
    load: () => import('./pages/variables.tsx'),
  },
  {
    path: '/audit',
    title: strings.operate.pages.audit,
    group: 'operate',
    icon: ScrollText,
    scope: 'backend.admin',
    load: () => import('./pages/audit.tsx'),
  },
  {
    path: '/users',
    title: strings.access.pages.users,
    group: 'access',
    icon: Users,
    scope: 'backend.admin',
    load: () => import('./pages/users.tsx'),
  },
  {
    path: '/users/$name',
    title: strings.access.pages.user,
    scope: 'backend.admin',
    load: () => import('./pages/user.tsx'),
  },
  {
    path: '/clients',
    title: strings.access.pages.clients,
    group: 'access',
    icon: AppWindow,
    scope: 'backend.admin',
    load: () => import('./pages/clients.tsx'),
  },
  {
    path: '/clients/$id',
    title: strings.access.pages.client,
    scope: 'backend.admin',
    load: () => import('./pages/client.tsx'),
  },
  {
    path: '/scopes',
    title: strings.access.pages.scopes,
    group: 'access',
    icon: ShieldCheck,
    scope: 'backend.admin',
    load: () => import('./pages/scopes.tsx'),
  },
  {
    path: '/tokens',
    title: strings.access.pages.tokens,
    group: 'access',
    icon: KeyRound,
    scope: 'backend.admin',
    load: () => import('./pages/tokens.tsx'),
  },
]
