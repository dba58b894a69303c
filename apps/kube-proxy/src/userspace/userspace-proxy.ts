import type { Rule } from '@tinkernetes/vnet';
import { Portal, type PortalDeps } from './portal';

interface Open {
  portal: Portal;
  port: number;
}

/**
 * The oldest way to carry Services: the node redirects connections to this process, which picks an endpoint and tries the
 * next one when it can't be reached. Datagrams are still rewritten by the node.
 * See https://kubernetes.io/blog/2022/11/18/upcoming-changes-in-kubernetes-1-26/ (removed upstream in 1.26).
 */
export class UserspaceProxy {
  private portals = new Map<string, Open>();

  constructor(private readonly deps: PortalDeps) {}

  /** The rules with each TCP endpoint choice replaced by a redirection to a portal of its own. */
  async redirect(rules: readonly Rule[]): Promise<Rule[]> {
    const used = new Map<string, Open>();
    const redirected: Rule[] = [];
    for (const rule of rules) {
      if (rule.protocol !== 'TCP' || rule.action !== 'DNAT') redirected.push(rule);
      else redirected.push(await this.redirectOne(rule, used));
    }
    for (const [key, { portal }] of this.portals) if (!used.has(key)) portal.close();
    this.portals = used;
    return redirected;
  }

  private async redirectOne(rule: Rule, used: Map<string, Open>): Promise<Rule> {
    const { endpoints = [], affinitySeconds, masquerade: _, ...match } = rule;
    const key = JSON.stringify(match);
    const open = this.portals.get(key) ?? (await Portal.open(this.deps, rule.name));
    used.set(key, open);
    open.portal.use(endpoints, affinitySeconds);
    return { ...match, action: 'REDIRECT', redirectPort: open.port };
  }
}
