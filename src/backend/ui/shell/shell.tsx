import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { config } from '../config.ts'
import { draftQuery, useDraft } from '../edit/draft.ts'
import { PageNotes } from '../components/page-header.tsx'
import { ChangedFiles, DraftBanner } from '../edit/draft-bar.tsx'
import { PageWarnings } from '../edit/page-warnings.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Brand, Frame } from './frame.tsx'
import { Palette } from './palette.tsx'
import { usePaletteItems } from './palette-items.ts'
import { Rail } from './rail.tsx'
import { SignInDialog } from './sign-in-dialog.tsx'
import { modeTexts } from '../components/mode-texts.ts'
import { paletteTexts } from './palette-texts.ts'

/** Loaded only if there are errors. */
const DraftErrors = lazyPart(() => import('../edit/draft-errors.tsx'), 'DraftErrors')

/** The frame of the backend, with its palette and its draft. */
export function Shell() {
  const [isPaletteOpen, palette] = useDisclosure(false)
  const { isLoading, errorUpdateCount } = useQuery(draftQuery)
  const isWaiting = isLoading && errorUpdateCount === 0 // to show editors at once
  const hasErrors = useDraft()?.diagnostics.some(({ severity }) => severity === 'error') === true
  useHotkeys([['mod+K', palette.toggle]], [])
  return (
    <>
      <PageNotes value={<PageWarnings />}>
        <Frame
          isWaiting={isWaiting}
          navigation={
            <Rail>
              <ProjectBrand />
            </Rail>
          }
          tools={
            <>
              {hasErrors ? (
                <Suspense>
                  <DraftErrors />
                </Suspense>
              ) : null}
              <ChangedFiles />
              <button type="button" className="search" onClick={palette.open} aria-keyshortcuts="Control+K Meta+K">
                <Search size={14} aria-hidden />
                <span className="search-label">{paletteTexts.open}</span>
                <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
              </button>
              <AccountMenu />
            </>
          }
          banner={
            <>
              {config.isReadOnly ? (
                <section className="banner" aria-label={modeTexts.label}>
                  {modeTexts.readOnly}
                </section>
              ) : null}
              <DraftBanner />
            </>
          }
        />
      </PageNotes>
      <Palette opened={isPaletteOpen} useItems={usePaletteItems} texts={paletteTexts} onClose={palette.close} />
      <SignInDialog />
    </>
  )
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

function ProjectBrand() {
  const project = useDraft()?.name
  // A project without a title has the host as its name.
  const name = config.service === location.host ? (project ?? config.service) : config.service
  return <Brand name={name} {...(config.isDevelopment ? { mode: 'dev' } : {})} />
}
