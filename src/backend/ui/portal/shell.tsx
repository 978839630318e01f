import { Button, Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { UserRound } from 'lucide-react'
import { ProblemAlert } from '../components/problem.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { AccountMenu } from '../shell/account-menu.tsx'
import { Brand, Frame, PageLinks } from '../shell/frame.tsx'
import { SignInDialog } from '../shell/sign-in-dialog.tsx'
import { portal } from './config.ts'
import { pages } from './pages.ts'
import { signIn, startProblem } from './visitor.ts'
import { shellTexts } from './shell-texts.ts'
import { navTexts } from '../shell/nav-texts.ts'

const groupsTexts = {
  build: 'Build',
  access: 'Access',
} as const

/** The frame of the portal. */
export function PortalShell() {
  const session = useStore(sessionStore)
  const problem = useStore(startProblem)
  return (
    <>
      <Frame
        navigation={<Navigation />}
        tools={
          session === undefined ? (
            <Button variant="default" onClick={signIn}>
              {shellTexts.signIn}
            </Button>
          ) : (
            <AccountMenu>
              <Menu.Item component={Link} to="/account" leftSection={<UserRound size={14} aria-hidden />}>
                {shellTexts.account}
              </Menu.Item>
            </AccountMenu>
          )
        }
        banner={
          <>
            {isSecureContext ? null : <p className="banner">{shellTexts.insecure}</p>}
            {problem === undefined ? null : (
              <ProblemAlert error={new Error([problem.message, problem.hint].filter(Boolean).join(' '))} />
            )}
          </>
        }
      />
      <SignInDialog />
    </>
  )
}

const groups = ['build', 'access'] as const

function Navigation() {
  const inNavigation = pages.filter(({ icon }) => icon !== undefined)
  return (
    <nav aria-label={navTexts.label} className="nav">
      <Brand name={portal.service} {...(portal.isDevelopment ? { mode: 'dev' } : {})} />
      <PageLinks entries={inNavigation.filter(({ group }) => group === undefined)} />
      {groups.map((group) => (
        <section key={group} aria-labelledby={`nav-${group}`}>
          <h2 id={`nav-${group}`}>{groupsTexts[group]}</h2>
          <PageLinks entries={inNavigation.filter((page) => page.group === group)} />
        </section>
      ))}
    </nav>
  )
}
