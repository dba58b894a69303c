import { runMain } from '@tinkernetes/component-base';
import { component } from '.';

void runMain(component);
