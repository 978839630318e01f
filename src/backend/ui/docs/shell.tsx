import { ActionIcon, Menu } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Search, SunMoon } from 'lucide-react'
import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { SchemeItems } from '../shell/account-menu.tsx'
import { Frame } from '../shell/frame.tsx'
import { Navigation } from './navigation.tsx'
import { docsTexts, searchTexts } from './docs-texts.ts'

const OperationSearch = lazyPart(() => import('./search.tsx'), 'OperationSearch')

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** The frame of the API reference: operations on the left, and a search. */
export function DocsShell() {
  const [isSearching, search] = useDisclosure(false)
  useHotkeys([['mod+K', search.toggle]], [])
  return (
    <>
      <Frame
        navigation={<Navigation />}
        tools={
          <>
            <button type="button" className="search" onClick={search.open} aria-keyshortcuts="Control+K Meta+K">
              <Search size={14} aria-hidden />
              <span className="search-label">{searchTexts.open}</span>
              <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
            </button>
            <Menu>
              <Menu.Target>
                <ActionIcon aria-label={docsTexts.theme} size={32}>
                  <SunMoon size={18} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <SchemeItems />
              </Menu.Dropdown>
            </Menu>
          </>
        }
      />
      <Suspense>{isSearching ? <OperationSearch onClose={search.close} /> : null}</Suspense>
    </>
  )
}
