import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { definitionQuery, nameOf, tablesQuery } from '../api/definition.ts'
import { signOut } from '../session/session.ts'
import type { Item } from './find-items.ts'
import type { PaletteItem } from './palette.tsx'
import { usePages } from './rail.tsx'
import { useHasScope } from './scope-gate.tsx'
import { subscriptionsTexts } from '../components/subscription-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { clientsTexts } from '../pages/client-texts.ts'
import { usersTexts } from '../pages/user-texts.ts'
import { variablesTexts } from '../pages/variable-texts.ts'
import { accountTexts } from './account-texts.ts'
import { navTexts } from './nav-texts.ts'
import { paletteTexts as texts } from './palette-texts.ts'

interface Target {
  readonly to: string
  readonly params?: Record<string, string>
  readonly search?: Record<string, string>
}

const typingMs = 150
const maxPeople = '8'

/** What the palette finds: pages and commands, and once the user types, everything that has a name. */
export function usePaletteItems(text: string): readonly PaletteItem[] {
  const navigate = useNavigate()
  const isSearching = text.trim() !== ''
  const definition = useDefinitionItems(isSearching)
  const people = usePeople(text)
  const commands = useCommands()
  const open = (target: Target) => () => void navigate(target)
  const things = [...definition, ...people].map(({ target, ...item }) => ({
    ...item,
    isName: true,
    key: JSON.stringify(target) + item.label,
    run: open(target),
  }))
  const shown = usePages().map(({ title, path, group }) => ({
    key: path,
    group: texts.pages,
    label: title,
    ...(group === undefined ? {} : { words: navTexts[group] }),
    run: open({ to: path }),
  }))
  return [...shown, ...commands, ...(isSearching ? things : [])]
}

type Thing = Item & { readonly target: Target; readonly method?: string }

/** What the active release contains. */
function useDefinitionItems(isSearching: boolean): readonly Thing[] {
  const enabled = useHasScope('backend.read') && isSearching
  const { data } = useQuery({ ...definitionQuery, enabled })
  const tables = useQuery({
    ...tablesQuery,
    enabled,
  })
  const connections = useQuery({
    queryKey: ['connection'],
    queryFn: ({ signal }) => call('GET /connection', {}, signal),
    enabled,
  })
  if (!enabled) return []
  const named = (group: string, to: string, all: readonly { readonly name: string }[] = []) =>
    all.map(({ name }) => ({ group, label: name, target: { to, params: { name } } }))
  return [
    ...(data?.routes ?? []).map((route) => ({
      group: pageTitles.routes,
      label: route.path,
      method: route.method,
      words: route.method,
      target: { to: '/routes/$route', params: { route: nameOf(route) } },
    })),
    ...named(pageTitles.schemas, '/schemas/$name', data?.schemas),
    ...named(
      pageTitles.actions,
      '/actions/$name',
      data?.actions.filter(({ kind }) => kind !== 'class'),
    ),
    ...named(pageTitles.events, '/events/$name', data?.events),
    ...named(pageTitles.cronjobs, '/cronjobs/$name', data?.cronjobs),
    ...(tables.data?.entry ?? []).map(({ name, connection }) => ({
      group: pageTitles.tables,
      label: name,
      words: connection,
      target: { to: '/tables/$name', params: { name: `${connection}.${name}` } },
    })),
    ...named(pageTitles.connections, '/connections', connections.data?.entry),
  ]
}

/** Users, clients and subscriptions; the server searches them. */
function usePeople(text: string): readonly Thing[] {
  const [search] = useDebouncedValue(text.trim(), typingMs)
  const mayRead = useHasScope('backend.admin') && search !== ''
  const mayOperate = useHasScope('backend.operate') && search !== ''
  const query = { search, limit: maxPeople }
  const users = useQuery({
    queryKey: ['user', 'palette', search],
    queryFn: ({ signal }) => call('GET /user', { query }, signal),
    placeholderData: keepPreviousData,
    enabled: mayRead,
  })
  const clients = useQuery({
    queryKey: ['client', 'palette', search],
    queryFn: ({ signal }) => call('GET /client', { query }, signal),
    placeholderData: keepPreviousData,
    enabled: mayRead,
  })
  const subscriptions = useQuery({
    queryKey: ['subscription', 'palette'],
    queryFn: ({ signal }) => call('GET /subscription', { query: { limit: '200' } }, signal),
    enabled: mayOperate,
  })
  return [
    ...(mayRead ? (users.data?.entry ?? []) : []).map(({ name, email }) => ({
      group: pageTitles.users,
      label: name,
      ...(email === null ? {} : { words: email }),
      target: { to: '/users/$name', params: { name } },
    })),
    ...(mayRead ? (clients.data?.entry ?? []) : []).map(({ id, name }) => ({
      group: pageTitles.clients,
      label: name,
      words: id,
      target: { to: '/clients/$id', params: { id } },
    })),
    ...(mayOperate ? (subscriptions.data?.entry ?? []) : []).map(({ id, event, endpoint }) => ({
      group: pageTitles.subscriptions,
      label: `${event} · ${endpoint.replace(/^https:\/\//, '')}`,
      target: { to: '/subscriptions/$id', params: { id } },
    })),
  ]
}

function useCommands(): readonly PaletteItem[] {
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const targets: readonly (Target & { readonly label: string; readonly isAllowed: boolean })[] = [
    { label: clientsTexts.add, isAllowed: useHasScope('backend.admin'), to: '/clients', search: { add: '1' } },
    { label: usersTexts.add, isAllowed: useHasScope('backend.admin'), to: '/users', search: { add: '1' } },
    {
      label: subscriptionsTexts.add,
      isAllowed: useHasScope('backend.operate'),
      to: '/subscriptions',
      search: { add: '1' },
    },
    { label: variablesTexts.add, isAllowed: useHasScope('backend.deploy'), to: '/variables', search: { add: '1' } },
    { label: texts.rollBack, isAllowed: useHasScope('backend.deploy'), to: '/releases', search: { rollback: '1' } },
    {
      label: texts.dead,
      isAllowed: useHasScope('backend.operate'),
      to: '/deliveries',
      search: { status: 'dead' },
    },
  ]
  const items = [
    ...targets
      .filter(({ isAllowed }) => isAllowed)
      .map(({ label, isAllowed: _allowed, ...target }) => ({ label, run: () => void navigate(target) })),
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      label: texts.theme(accountTexts[scheme]),
      words: texts.themeWords,
      run: () => setColorScheme(scheme),
    })),
    { label: accountTexts.signOut, run: () => void signOut() },
  ]
  return items.map((item) => ({ ...item, key: item.label, group: texts.commands }))
}
