import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'

/** A button with a menu for the actions of a page that are not used often. @param props `children` are menu items */
export function MoreMenu({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={label}>
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
