import { Menu } from '@mantine/core'
import { Pencil, Trash2 } from 'lucide-react'
import { MoreMenu } from '../components/more-menu.tsx'
import { entryTexts as texts } from './entry-texts.ts'

interface EntryMenuProps {
  readonly name: string
  /** `Rename path…`, for example. */
  readonly rename: string
  onRename(): void
  onDelete(): void
}

/** What is rarely done to an entry, and cannot be done by mistake: renaming and deleting it. */
export function EntryMenu({ name, rename, onRename, onDelete }: EntryMenuProps) {
  return (
    <MoreMenu label={texts.more}>
      <Menu.Item leftSection={<Pencil size={14} aria-hidden />} onClick={onRename}>
        {rename}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item leftSection={<Trash2 size={14} aria-hidden />} color="var(--bad)" onClick={onDelete}>
        {texts.delete(name)}
      </Menu.Item>
    </MoreMenu>
  )
}
