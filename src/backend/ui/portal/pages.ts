import { AppWindow, BookOpen, Handshake, Home, KeyRound, Radio, Rss, UserRound, type LucideIcon } from 'lucide-react'
import type { PageBase } from '../shell/page-router.tsx'
import { portal } from './config.ts'
import { pagesTexts } from './shell-texts.ts'

/** One page of the portal. To add a page, add it here. */
export interface PortalPage extends PageBase {
  /** The part of the navigation; pages of one thing have none. */
  readonly group?: 'build' | 'access'
  /** Pages in the navigation have one. */
  readonly icon?: LucideIcon
  /** Who may see it; by default users with the scope `consumer`, which the account API requires. */
  readonly audience?: 'everyone' | 'users'
}

const readers = portal.docs === 'public' ? 'everyone' : 'users'

const reference: readonly PortalPage[] =
  portal.docs === 'off'
    ? []
    : [
        {
          path: '/reference',
          title: pagesTexts.reference,
          group: 'build',
          icon: BookOpen,
          audience: readers,
          load: () => import('./pages/reference.tsx'),
        },
        {
          path: '/reference/$operation',
          title: pagesTexts.operation,
          audience: readers,
          load: () => import('./pages/operation.tsx'),
        },
      ]

export const pages: readonly PortalPage[] = [
  {
    path: '/',
    title: pagesTexts.overview,
    icon: Home,
    audience: 'everyone',
    load: () => import('./pages/overview.tsx'),
  },
  ...reference,
  {
    path: '/events',
    title: pagesTexts.events,
    group: 'build',
    icon: Radio,
    load: () => import('./pages/events.tsx'),
  },
  { path: '/events/$name', title: pagesTexts.event, load: () => import('./pages/event.tsx') },
  {
    path: '/subscriptions',
    title: pagesTexts.subscriptions,
    group: 'build',
    icon: Rss,
    load: () => import('./pages/subscriptions.tsx'),
  },
  { path: '/subscriptions/$id', title: pagesTexts.subscription, load: () => import('./pages/subscription.tsx') },
  {
    path: '/subscriptions/$id/deliveries/$delivery',
    title: pagesTexts.delivery,
    load: () => import('./pages/delivery.tsx'),
  },
  {
    path: '/clients',
    title: pagesTexts.clients,
    group: 'access',
    icon: AppWindow,
    load: () => import('./pages/clients.tsx'),
  },
  { path: '/clients/$id', title: pagesTexts.client, load: () => import('./pages/client.tsx') },
  {
    path: '/tokens',
    title: pagesTexts.tokens,
    group: 'access',
    icon: KeyRound,
    load: () => import('./pages/tokens.tsx'),
  },
  {
    path: '/grants',
    title: pagesTexts.grants,
    group: 'access',
    icon: Handshake,
    load: () => import('./pages/grants.tsx'),
  },
  {
    path: '/account',
    title: pagesTexts.account,
    group: 'access',
    icon: UserRound,
    load: () => import('./pages/account.tsx'),
  },
]
