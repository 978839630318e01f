import { ActionIcon, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import type { ReactNode } from 'react'
import { Check, CircleUserRound, LogOut } from 'lucide-react'
import { config } from '../config.ts'
import { sessionStore, signOut } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { setShortcuts, shortcutStore } from '../components/list-keys.ts'
import { accountTexts } from './account-texts.ts'

const schemes = ['auto', 'light', 'dark'] as const satisfies readonly MantineColorScheme[]

/** Items of a menu that choose the colour scheme. */
export function SchemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Menu.Label>{accountTexts.theme}</Menu.Label>
      {schemes.map((scheme) => (
        <Menu.RadioItem
          key={scheme}
          value={scheme}
          checked={colorScheme === scheme}
          checkIcon={<Check size={14} aria-hidden />}
          onChange={() => setColorScheme(scheme)}
        >
          {accountTexts[scheme]}
        </Menu.RadioItem>
      ))}
    </>
  )
}

/** Who is signed in, the appearance, and signing out. @param props `children` are more items */
export function AccountMenu({ children }: { readonly children?: ReactNode }) {
  const session = useStore(sessionStore)
  const hasShortcuts = useStore(shortcutStore)
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={accountTexts.label} size={32}>
          <CircleUserRound size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {accountTexts.signedInAs}{' '}
          <bdi translate="no" className="strong">
            {session?.user.name}
          </bdi>
        </Menu.Label>
        {children}
        <Menu.Divider />
        <SchemeItems />
        <Menu.Divider />
        <Menu.CheckboxItem checked={hasShortcuts} checkIcon={<Check size={14} aria-hidden />} onChange={setShortcuts}>
          {accountTexts.shortcuts}
          <span className="menu-hint">{accountTexts.shortcutKeys}</span>
        </Menu.CheckboxItem>
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={14} aria-hidden />} onClick={() => void signOut()}>
          {accountTexts.signOut}
        </Menu.Item>
        <Menu.Label className="mono">Waypost {config.version}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  )
}
